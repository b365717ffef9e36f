// Tasks as libfork's coroutines. A worker that forks goes on with the child, and others steal
// the rest of the parent. Coroutines are no plain calls, so the patterns are given whole.
#pragma once

#include "pool.hpp"
#include "teff/spawn/spawn_patterns.hpp"

namespace {

using namespace teff::spawn;

constexpr auto null = [](auto, std::int64_t i) LF_STATIC_CALL -> lf::task<> {
  null_task(i);
  co_return;
};

constexpr auto in_a_row = [](auto, std::int64_t tasks) LF_STATIC_CALL -> lf::task<> {
  for (std::int64_t i = 0; i < tasks; ++i) co_await lf::fork(null)(i);
  co_await lf::join;
};

constexpr auto halves = [](auto halves, std::int64_t first, std::int64_t end) LF_STATIC_CALL -> lf::task<> {
  if (end - first == 1) {
    null_task(first);
    co_return;
  }
  const std::int64_t middle = first + (end - first) / 2;
  co_await lf::fork(halves)(first, middle);
  co_await lf::call(halves)(middle, end);
  co_await lf::join;
};

constexpr auto fib_both = [](auto fib_both, std::int32_t n) LF_STATIC_CALL -> lf::task<std::int64_t> {
  if (n < 2) co_return n;
  std::int64_t a = 0;
  std::int64_t b = 0;
  co_await lf::fork(&a, fib_both)(n - 1);
  co_await lf::fork(&b, fib_both)(n - 2);
  co_await lf::join;
  co_return a + b;
};

constexpr auto fib_one = [](auto fib_one, std::int32_t n) LF_STATIC_CALL -> lf::task<std::int64_t> {
  if (n < 2) co_return n;
  std::int64_t a = 0;
  std::int64_t b = 0;
  co_await lf::fork(&a, fib_one)(n - 1);
  co_await lf::call(&b, fib_one)(n - 2);
  co_await lf::join;
  co_return a + b;
};

constexpr auto below = [](auto below, const tree* of, node from) LF_STATIC_CALL -> lf::task<tree_counts> {
  const std::int32_t children = of->children(from);
  if (children == 0) co_return tree_counts{1, 1, from.depth};
  auto [found] = co_await lf::co_new<tree_counts>(static_cast<std::size_t>(children));
  for (std::int32_t i = 0; i + 1 < children; ++i)
    co_await lf::fork(&found[static_cast<std::size_t>(i)], below)(of, tree::child(from, i));
  co_await lf::call(&found.back(), below)(of, tree::child(from, children - 1));
  co_await lf::join;
  tree_counts seen{1, 0, from.depth};
  for (const tree_counts& each : found) seen += each;
  co_return seen;
};

class task_system {
 public:
  explicit task_system(int workers) : pool_(workers) { here = &pool_.get(); }

  [[nodiscard]] teff::bench::identity describe() const { return pool_.describe(TEFF_VARIANT); }

  template <class Body>
  void run(Body body) {
    pool_.wake_all();
    body();
  }

  static void serial_spawn(std::int64_t tasks) { lf::sync_wait(*here, in_a_row, tasks); }
  static void parallel_spawn(std::int64_t tasks) { lf::sync_wait(*here, halves, std::int64_t{0}, tasks); }
  static std::int64_t fibonacci_both(std::int32_t n) { return lf::sync_wait(*here, fib_both, n); }
  static std::int64_t fibonacci_one(std::int32_t n) { return lf::sync_wait(*here, fib_one, n); }
  static tree_counts search_tree(const tree& of, const node& from) {
    return lf::sync_wait(*here, below, &of, from);
  }

 private:
  static inline TEFF_POOL* here = nullptr;  ///< where the patterns run: this program has one

  pool<TEFF_POOL> pool_;
};

}  // namespace
