#include "workers.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace teff::test {
namespace {

long fork_fib(long n) {
  if (n < 2) return n;
  auto a = fork([=] { return fork_fib(n - 1); });
  auto b = fork([=] { return fork_fib(n - 2); });
  const long second = b.get();
  return a.get() + second;
}

// A fork that has begun on another worker when this returns.
template <class F>
auto fork_stolen(std::atomic<bool>& begun, F f) {
  struct begins_it {
    std::atomic<bool>& flag;
    F body;
    decltype(auto) operator()() {
      flag = true;
      return body();
    }
  };
  return fork(begins_it{begun, std::move(f)});
}
void wait_for(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

struct counted {
  explicit counted(std::atomic<int>& all) : alive(&all) { ++*alive; }
  counted(const counted& other) : alive(other.alive) { ++*alive; }
  counted(counted&& other) noexcept : alive(other.alive) { ++*alive; }
  counted& operator=(const counted&) = delete;
  ~counted() { --*alive; }
  std::atomic<int>* alive;
};

static_assert(!std::is_move_constructible_v<decltype(fork([] {}))>, "a handle stays in its frame");

TEST(fork, two_forks_of_each_call_give_fibonacci_on_any_number_of_workers) {
  on_runtimes([](runtime& rt) { EXPECT_EQ(rt.run([] { return fork_fib(20); }), 6765); });
}

TEST(fork, returns_small_large_move_only_void_and_reference_results) {
  const auto check = [] {
    int target = 0;
    std::array<int, 100> large{};
    large[99] = 9;
    auto small = fork([] { return 5; });
    auto wide = fork([large] { return large; });
    auto owner = fork([three = std::make_unique<int>(3)]() mutable { return std::move(three); });
    auto nothing = fork([&target] { ++target; });
    auto reference = fork([&target]() -> int& { return target; });
    EXPECT_EQ(&reference.get(), &target);
    nothing.get();
    EXPECT_EQ(*owner.get(), 3);
    EXPECT_EQ(wide.get(), large);
    EXPECT_EQ(small.get(), 5);
    EXPECT_EQ(target, 1);
  };
  check();
  on_runtimes([&](runtime& rt) { rt.run(check); });
}

TEST(fork, a_stolen_fork_returns_small_large_void_and_reference_results) {
  runtime rt{{.workers = 2}};
  rt.run([] {
    int target = 0;
    const auto stolen = [](auto f) -> decltype(auto) {
      std::atomic<bool> begun{false};
      auto task = fork_stolen(begun, std::move(f));
      wait_for(begun);
      return task.get();
    };
    EXPECT_EQ(stolen([] { return 5; }), 5);
    std::array<int, 100> large{};
    large[99] = 9;
    EXPECT_EQ(stolen([large] { return large; }), large);
    EXPECT_EQ(stolen([] { return std::string(100, 'x'); }), std::string(100, 'x'));
    stolen([&] { target = 4; });
    EXPECT_EQ(&stolen([&]() -> int& { return target; }), &target);
    EXPECT_EQ(target, 4);
  });
}

TEST(fork, throws_the_exception_of_its_task_on_any_worker) {
  const auto fails = [] { throw std::out_of_range("task"); };
  const auto check = [&] {
    auto task = fork(fails);
    EXPECT_THROW(task.get(), std::out_of_range);
    EXPECT_THROW(task.get(), misuse);  // it was got
  };
  check();
  runtime rt{{.workers = 2}};
  rt.run([&] {
    check();
    std::atomic<bool> begun{false};
    auto task = fork_stolen(begun, fails);
    wait_for(begun);
    EXPECT_THROW(task.get(), std::out_of_range);
  });
}

TEST(fork, without_get_runs_when_its_block_ends_and_throws_there) {
  const auto check = [] {
    bool ran = false;
    {
      const auto task = fork([&] { ran = true; });
    }
    EXPECT_TRUE(ran);
    EXPECT_THROW({ const auto task = fork([] { throw std::out_of_range("task"); }); }, std::out_of_range);
  };
  check();
  on_runtimes([&](runtime& rt) { rt.run(check); });
}

TEST(fork, without_get_runs_also_in_a_destructor_that_an_exception_calls) {
  struct forks_at_its_end {
    ~forks_at_its_end() {
      const auto task = fork([this] { ran = true; });
    }
    bool& ran;
  };
  runtime rt{{.workers = 1}};
  bool ran = false;
  EXPECT_THROW(rt.run([&] {
    const forks_at_its_end last{ran};
    throw std::runtime_error("block");
  }),
               std::runtime_error);
  EXPECT_TRUE(ran);
}

TEST(fork, is_dropped_if_its_block_throws_before_it_has_begun) {
  const auto check = [](int may_have_run) {
    int ran = 0;
    std::atomic<int> alive{0};
    EXPECT_THROW(
        {
          const auto older = fork([&, c = counted(alive)] { ++ran; });
          auto newer = fork([] { throw std::out_of_range("newer"); });
          newer.get();
        },
        std::out_of_range);
    EXPECT_LE(ran, may_have_run);
    EXPECT_EQ(alive, 0);
  };
  check(1);  // a worker of the default runtime may have begun it
  runtime rt{{.workers = 1}};
  rt.run([&] { check(0); });
}

TEST(fork, that_has_begun_is_waited_for_when_its_block_throws_and_its_own_exception_is_lost) {
  runtime rt{{.workers = 2}};
  rt.run([] {
    std::atomic<bool> begun{false};
    std::atomic<bool> ended{false};
    EXPECT_THROW(
        {
          const auto task = fork_stolen(begun, [&] {
            for (int i = 0; i < 1000; ++i) std::this_thread::yield();
            ended = true;
            throw std::out_of_range("task");
          });
          wait_for(begun);
          throw std::runtime_error("block");
        },
        std::runtime_error);
    EXPECT_TRUE(ended);
  });
}

TEST(fork, closures_and_results_are_destroyed_exactly_once) {
  std::atomic<int> alive{0};
  const auto check = [&] {
    auto got = fork([c = counted(alive)] { return c; });
    const auto not_got =
        fork([c = counted(alive), large = std::array<int, 100>{}] { return std::pair(c, large); });
    const auto other = fork([c = counted(alive)] { return c; });
  };
  check();
  EXPECT_EQ(alive, 0);
  runtime rt{{.workers = 2}};
  rt.run([&] {
    check();
    std::atomic<bool> begun{false};
    auto stolen = fork_stolen(begun, [c = counted(alive)] { return c; });
    wait_for(begun);
    stolen.get();
  });
  EXPECT_EQ(alive, 0);
}

TEST(fork, outside_a_runtime_runs_beside_the_thread_on_the_default_one) {
  std::atomic<int> step{0};
  auto forked = fork([&] {
    step = 1;
    while (step != 2) std::this_thread::yield();
    return detail::this_worker().runtime;
  });
  while (step != 1) std::this_thread::yield();
  step = 2;
  EXPECT_EQ(forked.get(), &detail::private_access::internals(default_runtime()));
}

TEST(fork, outside_a_runtime_returns_results_of_any_kind_and_throws_in_any_order_of_asking) {
  int target = 0;
  for (int round = 0; round < 200; ++round) {
    auto small = fork([] { return 1; });
    auto reference = fork([&]() -> int& { return target; });
    auto owned = fork([mine = std::make_unique<int>(2)]() mutable { return std::move(mine); });
    auto large = fork([many = std::array<long, 50>{3}] { return many; });
    auto nothing = fork([] {});
    auto thrown = fork([]() -> int { throw std::runtime_error("the task's"); });
    EXPECT_EQ(small.get(), 1);
    EXPECT_EQ(&reference.get(), &target);
    EXPECT_EQ(*owned.get(), 2);
    EXPECT_EQ(large.get().front(), 3);
    nothing.get();
    EXPECT_THROW(thrown.get(), std::runtime_error);
  }
}

TEST(fork, outside_a_runtime_not_got_is_waited_for_and_its_closure_destroyed_once) {
  for (int round = 0; round < 200; ++round) {
    const auto alive = std::make_shared<int>(0);
    std::atomic<int> ran{0};
    {
      auto not_got = fork([&ran, alive] { ++ran; });
    }
    EXPECT_EQ(ran, 1);
    try {
      auto dropped = fork([&ran, alive] { ++ran; });
      throw std::runtime_error("the block");
    } catch (const std::runtime_error&) {
    }
    EXPECT_LE(ran, 2);
    EXPECT_EQ(alive.use_count(), 1);
  }
}

TEST(fork, got_before_a_later_fork_is_a_named_error_and_harms_neither) {
  runtime rt{{.workers = 1}};
  rt.run([] {
    auto a = fork([] { return 1; });
    auto b = fork([] { return 2; });
    EXPECT_THROW(a.get(), misuse);
    EXPECT_EQ(b.get(), 2);
    join([&] { EXPECT_THROW(a.get(), misuse); }, [] {});
    {
      scope s;
      s.spawn([] {});
      EXPECT_THROW(a.get(), misuse);
    }
    EXPECT_EQ(a.get(), 1);
  });
}

TEST(fork, got_on_another_thread_is_a_named_error) {
  runtime rt{{.workers = 1}};
  rt.run([] {
    auto a = fork([] { return 1; });
    std::thread([&] { EXPECT_THROW(a.get(), misuse); }).join();
    EXPECT_EQ(a.get(), 1);
  });
}

// A tree in which each node forks in a random way. The sum of the leaves does not depend on the ways.
long mixed_tree(std::uint64_t seed, int depth) {
  if (depth == 0) return 1;
  std::minstd_rand random(static_cast<unsigned>(seed % 2147483646 + 1));
  random.discard(3);
  const auto how = random() % 5;
  const std::array<std::uint64_t, 3> seeds{random(), random(), random()};
  const auto below = [&seeds, depth](std::size_t child) { return mixed_tree(seeds[child], depth - 1); };
  const auto child = [&](std::size_t i) { return [&below, i] { return below(i); }; };
  if (how == 0) {
    auto a = fork(child(0));
    auto b = fork(child(1));
    const long c = below(2);
    const long second = b.get();
    return a.get() + second + c;
  }
  if (how == 1) {
    const auto [a, b, c] = join(child(0), child(1), child(2));
    return a + b + c;
  }
  if (how == 2) {
    long b = 0;
    long c = 0;
    auto a = fork(child(0));
    {
      scope s;
      s.spawn([&] { b = below(1); });
      auto inner = fork(child(2));
      c = inner.get();
    }
    return a.get() + b + c;
  }
  if (how == 3) {
    auto a = fork(child(0));
    const long others = parallel_reduce(std::size_t{1}, std::size_t{3}, 0L, std::plus<>{}, below);
    return a.get() + others;
  }
  std::atomic<long> sum{0};
  scope s;
  auto a =
      fork([&] { parallel_for(std::size_t{0}, std::size_t{2}, [&](std::size_t i) { sum += below(i); }); });
  s.spawn([&] { sum += below(2); });  // at once: the fork is in its way
  a.get();
  s.wait();
  return sum;
}

TEST(fork, random_trees_of_forks_joins_scopes_and_loops_have_all_their_leaves) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  on_runtimes([&](runtime& rt) {
    for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(rt.run([&] { return mixed_tree(seed + i, 7); }), 2187);
  });
}

long failing_tree(std::uint64_t seed, int depth) {
  std::minstd_rand random(static_cast<unsigned>(seed % 2147483646 + 1));
  random.discard(3);
  if (random() % 500 == 0) throw std::runtime_error("node");
  if (depth == 0) return 1;
  const auto left = random();
  const auto right = random();
  auto a = fork([=] { return failing_tree(left, depth - 1); });
  if (right % 16 == 0) return 1;  // leaves it to its end
  auto b = fork([=] { return failing_tree(right, depth - 1); });
  const long second = b.get();
  return a.get() + second;
}

TEST(fork, random_trees_give_the_same_sum_or_an_exception_on_any_number_of_workers) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  const auto outcome = [](auto&& run) {
    try {
      return run();
    } catch (const std::runtime_error&) {
      return -1L;
    }
  };
  on_runtimes([&](runtime& rt) {
    for (std::uint64_t i = 0; i < 30; ++i) {
      const auto tree = [&] { return failing_tree(seed + i, 9); };
      EXPECT_EQ(outcome([&] { return rt.run(tree); }), outcome(tree));
    }
  });
}

long fork_chain(long depth) {
  if (depth == 0) return 0;
  auto leaf = fork([] { return 1L; });
  auto rest = fork([=] { return fork_chain(depth - 1); });
  const long below = rest.get();
  return leaf.get() + below;
}

TEST(fork, recurses_a_hundred_thousand_deep) {
  const long depth = under_thread_sanitizer ? 5000 : 100000;  // which keeps at most 2^16 frames
  for (const unsigned workers : {1U, 2U, 4U}) {
    runtime rt{{.workers = workers}};
    EXPECT_EQ(rt.run([=] { return fork_chain(depth); }), depth);
  }
}

}  // namespace
}  // namespace teff::test
