// The loop of a worksharing task (src/flow/README.md, "Worksharing tasks").
#pragma once

#include <teff/detail/flow/flow_body.hpp>
#include <teff/detail/flow/flow_task.hpp>
#include <teff/detail/loops/blocks.hpp>
#include <teff/detail/loops/pace.hpp>
#include <teff/detail/loops/shared_loop.hpp>
#include <teff/detail/scheduler/tracing.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace teff::detail {

// The accesses of the task that runs `some`: as given, or as a function of it returns them.
template <class Given>
decltype(auto) accesses_of(const Given& given, teff::range some) {
  if constexpr (std::invocable<const Given&, teff::range>) {
    return std::invoke(given, some);
  } else {
    return (given);
  }
}

// The first form that the body accepts counts, as in a loop_body.
template <class Body>
concept body_of_ranges = !body_of_iterations<Body, std::ptrdiff_t> && !body_of_bounds<Body, std::ptrdiff_t> &&
                         std::invocable<Body&, teff::range>;
template <class Body>
concept body_of_chunks =
    body_of_iterations<Body, std::ptrdiff_t> || body_of_bounds<Body, std::ptrdiff_t> || body_of_ranges<Body>;

// Unit k is the iterations from first + k * unit on. In the ready queues it is an offer: a worker may join.
struct flow_loop : shared_loop<>, runnable {
  flow_loop(part* of_workers, unsigned workers, teff::range all, std::size_t least_chunk) noexcept;

  [[nodiscard]] teff::range iterations(loop_piece some) const noexcept {
    const auto at = [&](std::uint32_t index) {
      return whole.first +
             static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(std::uint64_t{index} * unit, whole.size()));
    };
    return {at(some.first), at(some.last)};
  }

  // The body of the task has returned, if it was called. Whether the task has ended.
  [[nodiscard]] bool end_body() noexcept { return end(1); }

  const teff::range whole;
  std::uint64_t unit;  // iterations; two to the 31st units at most
  std::uint32_t units;
  void (*chunk)(void* closure, teff::range, unsigned worker);
  void (*forget)(void* closure) noexcept;  // the private copies of its reductions
  remembered_pace* pace;
  const char* name;  // in a trace
  flow_task* task;
  // It was long enough to be shared. A recording asks.
  std::atomic<bool> pays{false};
};

// A body with the private copies of a worker as its last arguments.
template <class Body, class... Copies>
struct body_with_copies {
  Body& body;
  std::tuple<Copies...> copies;
  template <class... Iterations>
    requires std::invocable<Body&, Iterations..., Copies...>
  void operator()(Iterations... iterations) const {
    std::apply([&](auto&... each) { std::invoke(body, iterations..., static_cast<Copies>(each)...); },
               copies);
  }
};
// The closure of a worksharing task. The parts of the loop lie behind it.
template <class Body, class Copies>
struct loop_closure;
template <class Body, class... Copies>
struct alignas(64) loop_closure<Body, std::tuple<Copies...>> {
  using parts = loop_part<>;
  using with_copies =
      std::conditional_t<sizeof...(Copies) == 0, Body, body_with_copies<Body, typename Copies::argument...>>;
  static_assert(
      body_of_chunks<with_copies>,
      "the body of task_for() is called with one index, with two bounds, or with a teff::range, and "
      "then with the private copy of each reduction");
  static constexpr std::size_t bytes_a_worker = sizeof(parts);  // behind it

  template <class Given>
  loop_closure(Given&& given, std::tuple<Copies...>&& of_reductions, flow_task& task, unsigned workers,
               teff::range all, std::size_t least_chunk)
      : function(std::forward<Given>(given)),
        copies(std::move(of_reductions)),
        loop(reinterpret_cast<parts*>(this + 1), workers, all, least_chunk) {
    std::uninitialized_default_construct_n(reinterpret_cast<parts*>(this + 1), workers);
    loop.chunk = &run_chunk;
    loop.forget = &forget_copies;
    loop.pace = &pace_of<Body>(loop.units);
    loop.name = name_of(function);
    loop.task = &task;
  }
  static loop_closure& of(flow_task& task) noexcept { return *static_cast<loop_closure*>(task.closure); }
  static void run_chunk(void* closure, teff::range some, unsigned worker) {
    auto& me = *static_cast<loop_closure*>(closure);
    if constexpr (sizeof...(Copies) == 0) {
      run_with(me.function, some);
    } else {
      auto with = std::apply([&](auto&... each) { return with_copies{me.function, {each.given(worker)...}}; },
                             me.copies);
      run_with(with, some);
    }
  }
  static void run_with(with_copies& function, teff::range some) {
    if constexpr (body_of_ranges<with_copies>) {
      std::invoke(function, some);
    } else {
      blocks_of<std::ptrdiff_t, with_copies>{function}(some.first, some.last);
    }
  }
  static void forget_copies(void* closure) noexcept {
    std::apply([](auto&... each) { (each.forget(), ...); }, static_cast<loop_closure*>(closure)->copies);
  }
  // All of it, in order.
  static void run(flow_task& task) {
    const traced_span span(event_kind::task, of(task).loop.name);
    if (const auto all = of(task).loop.whole; all.size() != 0) run_chunk(task.closure, all, 0);
  }
  // The loop stays: workers may still look for iterations.
  static void destroy(flow_task& task) noexcept {
    std::destroy_at(std::addressof(of(task).function));
    std::destroy_at(std::addressof(of(task).copies));
  }
  static reduction_part* reduction(flow_task& task, std::size_t index) noexcept {
    return reduction_at(of(task).copies, index);
  }
  static flow_loop* loop_of(flow_task& task) noexcept { return &of(task).loop; }
  static constexpr flow_body body{&run, &destroy, sizeof...(Copies) == 0 ? nullptr : &reduction,
                                  &name_of<Body>, &loop_of};

  Body function;
  [[no_unique_address]] std::tuple<Copies...> copies;
  flow_loop loop;
};

}  // namespace teff::detail
