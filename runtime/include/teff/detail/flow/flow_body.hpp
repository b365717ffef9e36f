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

[[noreturn, gnu::cold]] void refuse_within_task(const char* call);

template <class First, class...>
struct first_type {
  using type = First;
};
template <class... Types>
using first_of = typename first_type<Types...>::type;

// A task's part in one reduction, and how it combines its private copies.
template <class T, class Op, bool Array>
struct reduction_copies : reduction_part {
  using copy = std::optional<unmoved_array<T>>;  // a std::vector of bool has no bool&
  using argument = std::conditional_t<Array, std::span<T>, T&>;

  std::span<T> of;
  Op op;
  T identity;

  explicit reduction_copies(const reduction_access<T, Op, Array>& access)
      : reduction_copies(access.of, access.op, access.identity) {}
  reduction_copies(std::span<T> range, const Op& with, const T& from) : of(range), op(with), identity(from) {}

  // The argument of the body. A copy that has not begun starts as the identity.
  argument given(copy& mine) const {
    if (!mine) mine.emplace(of.size(), [this](T* at, std::size_t) { std::construct_at(at, identity); });
    if constexpr (Array) {
      return mine->all();
    } else {
      return *(*mine)[0];
    }
  }
  void add(copy& mine) {
    for (std::size_t i = 0; mine && i < of.size(); ++i) of[i] = op(std::move(of[i]), std::move(*(*mine)[i]));
    mine.reset();
  }
};

// The private copy of a body.
template <class T, class Op, bool Array>
struct reduction_copy : reduction_copies<T, Op, Array> {
  using base = reduction_copies<T, Op, Array>;
  typename base::copy mine;

  explicit reduction_copy(const reduction_access<T, Op, Array>& access) : base(access) { set(); }
  // Before its task is made.
  reduction_copy(reduction_copy&& other) : base(other.of, other.op, other.identity) { set(); }
  void set() noexcept {
    this->combine = [](reduction_part& part) {
      auto& me = static_cast<reduction_copy&>(part);
      me.add(me.mine);
    };
  }
  // The caller is about to begin the body.
  typename base::argument given() {
    mine.reset();
    return base::given(mine);
  }
};

// The private copies of a worksharing task, one for each worker that has run a chunk.
template <class T, class Op, bool Array>
struct loop_copies : reduction_copies<T, Op, Array> {
  using base = reduction_copies<T, Op, Array>;
  std::vector<typename base::copy> of_workers;

  loop_copies(const reduction_access<T, Op, Array>& access, unsigned workers)
      : base(access), of_workers(workers) {
    set();
  }
  // Before its task is made.
  loop_copies(loop_copies&& other)
      : base(other.of, other.op, other.identity), of_workers(other.of_workers.size()) {
    set();
  }
  void set() noexcept {
    this->combine = [](reduction_part& part) {
      auto& me = static_cast<loop_copies&>(part);
      for (auto& each : me.of_workers) me.add(each);
    };
  }
  typename base::argument given(unsigned worker) { return base::given(of_workers[worker]); }
  void forget() noexcept {
    for (auto& each : of_workers) each.reset();
  }
};

template <class Access>
struct copies_of {
  static auto of(const Access& /*access*/) { return std::tuple<>(); }
  static auto of_loop(const Access& /*access*/, unsigned /*workers*/) { return std::tuple<>(); }
};
template <class T, class Op, bool Array>
struct copies_of<reduction_access<T, Op, Array>> {
  static auto of(const reduction_access<T, Op, Array>& access) {
    return std::tuple<reduction_copy<T, Op, Array>>(access);
  }
  static auto of_loop(const reduction_access<T, Op, Array>& access, unsigned workers) {
    return std::tuple<loop_copies<T, Op, Array>>(loop_copies<T, Op, Array>(access, workers));
  }
};

// The part of a task's closure in its reduction of this number; null: it has fewer.
template <class... Copies>
reduction_part* reduction_at(std::tuple<Copies...>& copies, std::size_t index) noexcept {
  return std::apply(
      [index](auto&... copy) {
        std::size_t at = 0;
        reduction_part* found = nullptr;
        ((at++ == index ? static_cast<void>(found = std::addressof(copy)) : static_cast<void>(0)), ...);
        return found;
      },
      copies);
}

void append_access(std::vector<access>& to, const access& one);
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

template <class Body, class... Copies>
struct flow_closure {
  static constexpr bool takes_copies = std::invocable<Body&, decltype(std::declval<Copies&>().given())...>;
  static constexpr bool is_coroutine = requires(Body& function, Copies&... copies) {
    { std::invoke(function, copies.given()...) } -> std::same_as<task_coroutine>;
  };
  struct no_coroutine {};

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
    static_assert(takes_copies,
                  "the body of a task has one parameter for each reduction, in their order: a T& for an "
                  "object, a std::span<T> for a range. A std::string is a range of char: reduce an object "
                  "that holds it");
    if constexpr (takes_copies) call(me, task);
  }
  static void call(flow_closure& me, flow_task& task) {
    const auto call_function = [&] {
      return std::apply([&](auto&... copy) { return std::invoke(me.function, copy.given()...); }, me.copies);
    };
    if constexpr (is_coroutine) {
      if (!me.coroutine.has_begun() || me.coroutine.has_ended())
        me.coroutine = call_function();  // a replay begins it anew
      me.coroutine.run(task);
    } else {
      static_cast<void>(call_function());
    }
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

template <class Body, class... Copies>
[[nodiscard]] auto closure_of(Body&& function, std::tuple<Copies...>&& copies) {
  return flow_closure<std::decay_t<Body>, Copies...>{std::forward<Body>(function), std::move(copies)};
}
template <class Body, class... Accesses>
[[nodiscard]] auto kept_body(Body&& function, const Accesses&... accesses) {
  static_assert(!std::same_as<std::decay_t<Body>, access>,
                "the last argument of a task is its body: give a function");
  return closure_of(std::forward<Body>(function), std::tuple_cat(copies_of<Accesses>::of(accesses)...));
}

}  // namespace teff::detail
