// The closure of a flow's task: the body, and the private copies of its reductions.
#pragma once

#include <teff/detail/flow/access.hpp>
#include <teff/detail/flow/flow_task.hpp>
#include <teff/detail/platform/ranges.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/detail/task_source/recycled_memory.hpp>
#include <teff/task_coroutine.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace teff::detail {

// A task's part in one reduction. A worksharing task has a private copy for each worker, which begins with
// the worker's first chunk. Any other task has one.
template <class T, class Op, bool Array, bool Loop>
struct reduction_copies : reduction_part {
  using copy = std::optional<unmoved_array<T>>;  // a std::vector of bool has no bool&
  using argument = std::conditional_t<Array, std::span<T>, T&>;

  reduction_access<T, Op, Array> access;
  std::conditional_t<Loop, std::vector<copy>, std::array<copy, 1>> copies;

  reduction_copies(const reduction_access<T, Op, Array>& of, unsigned workers) : access(of) {
    if constexpr (Loop) copies = std::vector<copy>(workers);
    this->combine = [](reduction_part& part) {
      auto& me = static_cast<reduction_copies&>(part);
      for (auto& each : me.copies) me.add(each);
    };
  }
  // Before its task is made.
  reduction_copies(reduction_copies&& other)
      : reduction_copies(other.access, static_cast<unsigned>(other.copies.size())) {}

  // The argument of the body. A copy that has not begun starts as the identity.
  argument given(unsigned worker = 0) {
    copy& mine = copies[worker];
    if (!mine)
      mine.emplace(access.of.size(), [this](T* at, std::size_t) { std::construct_at(at, access.identity); });
    if constexpr (Array) {
      return mine->all();
    } else {
      return *(*mine)[0];
    }
  }
  void forget() noexcept {
    for (auto& each : copies) each.reset();
  }

 private:
  void add(copy& mine) {
    const auto to = access.of;
    for (std::size_t i = 0; mine && i < to.size(); ++i)
      to[i] = access.op(std::move(to[i]), std::move(*(*mine)[i]));
    mine.reset();
  }
};

template <bool Loop>
std::tuple<> copies_of(const auto& /*access*/, unsigned /*workers*/) {
  return {};
}
template <bool Loop, class T, class Op, bool Array>
auto copies_of(const reduction_access<T, Op, Array>& access, unsigned workers) {
  using copies = reduction_copies<T, Op, Array, Loop>;
  return std::tuple<copies>(copies(access, workers));
}

// The part of a task's closure in its reduction of this number; null: that is how many it has.
template <class... Copies>
reduction_part* reduction_at(std::tuple<Copies...>& copies, std::size_t index) noexcept {
  return std::apply(
      [index](auto&... each) {
        reduction_part* const all[] = {std::addressof(each)..., nullptr};
        return all[index];
      },
      copies);
}

inline void append_access(std::vector<access>& to, const access& one) {
  to.push_back(one);
}
template <std::ranges::input_range List>
  requires std::convertible_to<std::ranges::range_reference_t<List>, access>
void append_access(std::vector<access>& to, List&& list) {
  to.insert(to.end(), std::ranges::begin(list), std::ranges::end(list));
}
template <class T, class Op, bool Array>
void append_access(std::vector<access>& to, const reduction_access<T, Op, Array>& one) {
  to.push_back({reinterpret_cast<const std::byte*>(one.of.data()), one.of.size_bytes(), 1, 0,
                access_mode::reduction, false, &operation_tag<T, Op>});
}

template <class Body, class Copies>
struct flow_closure;
template <class Body, class... Copies>
struct flow_closure<Body, std::tuple<Copies...>> {
  static constexpr bool is_coroutine = requires(Body& function, Copies&... copies) {
    { std::invoke(function, copies.given()...) } -> std::same_as<task_coroutine>;
  };
  struct no_coroutine {};
  static constexpr std::size_t bytes_a_worker = 0;  // behind it

  template <class Given>
  flow_closure(Given&& given, std::tuple<Copies...>&& of_reductions, flow_task& /*task*/,
               unsigned /*workers*/)
      : function(std::forward<Given>(given)), copies(std::move(of_reductions)) {}

  Body function;
  [[no_unique_address]] std::tuple<Copies...> copies;
  // Destroyed before the body, whose captures it uses.
  [[no_unique_address]] std::conditional_t<is_coroutine, task_coroutine, no_coroutine> coroutine{};

  static flow_closure& of(flow_task& task) noexcept { return *static_cast<flow_closure*>(task.closure); }
  static void run(flow_task& task) {
    auto& me = of(task);
    if (trace_ring* const ring = ring_here(); ring != nullptr) [[unlikely]]
      record_spawn(*ring);
    const traced_span span(event_kind::task, name_of(me.function));
    if constexpr (!is_coroutine) {
      static_cast<void>(me.call());
    } else {
      if (!me.coroutine.has_begun() || me.coroutine.has_ended())
        me.coroutine = me.call();  // a replay begins it anew
      me.coroutine.run(task);
    }
  }
  auto call() {
    constexpr bool takes_copies = std::invocable<Body&, typename Copies::argument...>;
    static_assert(takes_copies,
                  "the body of a task has one parameter for each reduction, in their order: a T& for an "
                  "object, a std::span<T> for a range. A std::string is a range of char: reduce an object "
                  "that holds it");
    if constexpr (takes_copies)
      return std::apply(
          [this](auto&... each) {
            (each.forget(), ...);  // a replay may have failed before it combined them
            return std::invoke(function, each.given()...);
          },
          copies);
  }
  static bool goes_on(flow_task& task) noexcept {
    if constexpr (is_coroutine) return of(task).coroutine.has_begun() && !of(task).coroutine.has_ended();
    return false;
  }
  static void destroy(flow_task& task) noexcept { std::destroy_at(&of(task)); }
  static reduction_part* reduction(flow_task& task, std::size_t index) noexcept {
    return reduction_at(of(task).copies, index);
  }
  static constexpr flow_body body{&run,           &destroy, sizeof...(Copies) == 0 ? nullptr : &reduction,
                                  &name_of<Body>, nullptr,  is_coroutine ? &goes_on : nullptr};
};

}  // namespace teff::detail
