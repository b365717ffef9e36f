// Tasks as coroutines of TooManyCooks: a task that is forked goes to the thread's own deque, and others steal
// the oldest. Coroutines are no plain calls, so the patterns are given whole.
#pragma once

#include <coroutine>
#include <utility>

#include "executor.hpp"
#include "teff/spawn/spawn_patterns.hpp"

/// Awaits something of TooManyCooks' that can't be moved, as `co_await std::move(awaited)` does: GCC 12 would
/// move it.
template <class Awaitable>
struct in_place {
  Awaitable& awaited;

  explicit in_place(Awaitable& what) : awaited(what) {}
  bool await_ready() { return awaited.await_ready(); }
  auto await_suspend(std::coroutine_handle<> outer) { return awaited.await_suspend(outer); }
  decltype(auto) await_resume() { return awaited.await_resume(); }
};

/// Without this TooManyCooks would await it in a separate coroutine.
template <class Awaitable>
struct tmc::detail::awaitable_traits<in_place<Awaitable>> {
  static constexpr configure_mode mode = WRAPPER;
  using self_type = in_place<Awaitable>;
  using awaiter_type = in_place<Awaitable>;
  using result_type = decltype(std::declval<Awaitable&>().await_resume());
  static awaiter_type get_awaiter(self_type awaitable) noexcept { return awaitable; }
};

namespace {

using namespace teff::spawn;

tmc::task<void> null(std::int64_t i) {
  null_task(i);
  co_return;
}

tmc::task<void> in_a_row(std::int64_t tasks) {
  auto all = tmc::fork_group();
  for (std::int64_t i = 0; i < tasks; ++i) all.fork(null(i));
  co_await in_place(all);
}

tmc::task<void> halves(std::int64_t first, std::int64_t end) {
  if (end - first == 1) {
    null_task(first);
    co_return;
  }
  const std::int64_t middle = first + (end - first) / 2;
  co_await tmc::spawn_tuple(halves(first, middle), halves(middle, end));
}

tmc::task<std::int64_t> fib_both(std::int32_t n) {
  if (n < 2) co_return n;
  const auto [a, b] = co_await tmc::spawn_tuple(fib_both(n - 1), fib_both(n - 2));
  co_return a + b;
}

tmc::task<std::int64_t> fib_one(std::int32_t n) {
  if (n < 2) co_return n;
  auto a = tmc::spawn(fib_one(n - 1)).fork();
  const std::int64_t b = co_await fib_one(n - 2);
  auto&& forked = std::move(a).operator co_await();
  co_return co_await in_place(forked) + b;
}

tmc::task<tree_counts> below(const tree& of, node from) {
  const std::int32_t children = of.children(from);
  if (children == 0) co_return tree_counts{1, 1, from.depth};
  tree_counts seen{1, 0, from.depth};
  if (children > 1) {
    auto others = tmc::fork_group<tree_counts>(static_cast<std::size_t>(children) - 1);
    for (std::int32_t i = 0; i + 1 < children; ++i) others.fork(below(of, tree::child(from, i)));
    seen += co_await below(of, tree::child(from, children - 1));
    for (const tree_counts& each : co_await in_place(others)) seen += each;
  } else {
    seen += co_await below(of, tree::child(from, 0));
  }
  co_return seen;
}

class task_system {
 public:
  explicit task_system(int workers) : executor_(workers) {}

  [[nodiscard]] teff::bench::identity describe() const { return executor_.describe("coroutines"); }

  template <class Body>
  void run(Body body) {
    executor_.wake_all();
    body();
  }

  static void serial_spawn(std::int64_t tasks) { wait_for(in_a_row(tasks)); }
  static void parallel_spawn(std::int64_t tasks) { wait_for(halves(0, tasks)); }
  static std::int64_t fibonacci_both(std::int32_t n) { return wait_for(fib_both(n)); }
  static std::int64_t fibonacci_one(std::int32_t n) { return wait_for(fib_one(n)); }
  static tree_counts search_tree(const tree& of, const node& from) { return wait_for(below(of, from)); }

 private:
  template <class Result>
  static Result wait_for(tmc::task<Result> task) {
    return tmc::post_waitable(tmc::cpu_executor(), std::move(task)).get();
  }

  executor executor_;
};

}  // namespace
