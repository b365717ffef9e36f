#include "allocations.hpp"
#include "scheduler/scheduler.hpp"
#include "workers.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace teff::test {
namespace {

// Counts how many of these live.
class counted_copy {
 public:
  explicit counted_copy(std::atomic<int>& alive) : alive_(&alive) { ++*alive_; }
  counted_copy(const counted_copy& other) : alive_(other.alive_) { ++*alive_; }
  counted_copy(counted_copy&& other) noexcept : alive_(other.alive_) { ++*alive_; }
  counted_copy& operator=(const counted_copy&) = default;
  ~counted_copy() { --*alive_; }

 private:
  std::atomic<int>* alive_;
};

TEST(future, has_the_value_or_the_exception_of_the_request) {
  on_runtimes([](runtime& rt) {
    EXPECT_EQ(rt.submit([] { return std::string("value"); }).get(), "value");
    int target = 1;
    rt.submit([&]() -> int& { return target; }).get() = 2;
    EXPECT_EQ(target, 2);
    rt.submit([&] { target = 3; }).get();
    EXPECT_EQ(target, 3);
    EXPECT_EQ(*rt.submit([p = std::make_unique<int>(4)]() mutable { return std::move(p); }).get(), 4);
    EXPECT_THROW(rt.submit([] { throw std::out_of_range("f"); }).get(), std::out_of_range);
    EXPECT_THROW(rt.submit([]() -> int { throw std::out_of_range("f"); }).get(), std::out_of_range);
    EXPECT_EQ(rt.submit([] { return fib(12); }).get(), 144);
  });
}

TEST(future, can_be_stored_and_waited_for_in_any_order) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  on_runtimes([seed](runtime& rt) {
    std::vector<std::pair<int, future<int>>> all;
    for (int i = 0; i < 500; ++i) all.emplace_back(i, rt.submit([i] { return 2 * i; }));
    std::mt19937_64 random(seed);
    std::ranges::shuffle(all, random);
    for (auto& [i, each] : all) EXPECT_EQ(each.get(), 2 * i);
  });
}

// The waiting thread runs the request if it begins to wait before a worker has taken the request.
TEST(future, of_a_request_that_no_worker_has_begun_is_completed_by_the_waiting_thread) {
  const auto me = std::this_thread::get_id();
  runtime rt{{.workers = 2}};
  const auto where = [] { return std::this_thread::get_id(); };
  while (rt.submit(where).get() != me) continue;
  for (bool here = false; !here;) {
    std::vector<future<std::thread::id>> all;
    for (int i = 0; i < 10; ++i) all.push_back(rt.submit(where));
    here = std::ranges::count(when_all(std::move(all)).get(), me) != 0;
  }
  // The same for a request that throws. The waiting thread runs it as a worker, so its joins work, too.
  for (bool here = false; !here;) {
    try {
      rt.submit([&]() -> int {
          EXPECT_LT(*worker_index(), 2U);
          here = std::this_thread::get_id() == me;
          throw std::out_of_range(std::to_string(fib(10)));
        }).get();
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "55");
    }
  }
}

// ThreadSanitizer checks on which threads the exceptions are read and destroyed.
TEST(when_all, of_several_requests_that_throw_throws_the_first_exception_each_time) {
  runtime rt{{.workers = 2}};
  for (int round = 0; round < 300; ++round) {
    const auto thrower = [&](const char* what) {
      return rt.submit([what]() -> int { throw std::runtime_error(what); });
    };
    try {
      static_cast<void>(when_all(rt.submit([] { return 1; }), thrower("first"), thrower("second")).get());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "first");
    }
    EXPECT_THROW(thrower("once").then([](int i) { return i; }).then([](int) {}).get(), std::runtime_error);
  }
}

TEST(future, requests_of_many_waiting_threads_run_once_and_leave_nothing_in_the_queue) {
  on_runtimes([](runtime& rt) {
    constexpr int rounds = under_sanitizer ? 40 : 400;
    std::atomic<int> calls{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
      callers.emplace_back([&] {
        for (int round = 0; round < rounds; ++round) {
          EXPECT_EQ(rt.submit([&] { return ++calls, 7; }).get(), 7);
          auto [a, b, c] = when_all(rt.submit([&] {
                             ++calls;
                             return 1;
                           }),
                                    rt.submit([&] {
                                      ++calls;
                                      return 2;
                                    }),
                                    rt.submit([&] {
                                      ++calls;
                                      return 3;
                                    }))
                               .get();
          EXPECT_EQ(a + b + c, 6);
        }
      });
    }
    for (auto& each : callers) each.join();
    EXPECT_EQ(calls, 4 * 4 * rounds);
    while (!detail::private_access::internals(rt).requests().empty()) std::this_thread::yield();
  });
}

TEST(future, is_waited_for_by_workers_in_any_order) {
  on_runtimes([](runtime& rt) {
    const long sum = rt.run([&] {
      std::vector<future<long>> all;
      for (int i = 0; i < 200; ++i) all.push_back(rt.submit([i] { return fib(i % 10); }));
      long total = 0;
      for (auto each = all.rbegin(); each != all.rend(); ++each) total += each->get();
      return total;
    });
    EXPECT_EQ(sum, 20 * (0 + 1 + 1 + 2 + 3 + 5 + 8 + 13 + 21 + 34));
  });
}

// No request may run on the stack above a request that it waits for, wherever both have begun.
TEST(future, chains_of_requests_that_wait_for_older_ones_end) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  on_runtimes([seed](runtime& rt) {
    std::mt19937_64 random(seed);
    constexpr int count = 200;
    std::vector<future<int>> all(count);
    std::atomic<int> submitted{0};
    const auto submit_one = [&](int i) {
      const int on = i == 0 ? -1 : static_cast<int>(random() % static_cast<unsigned>(i));
      all[static_cast<std::size_t>(i)] = rt.submit([&, i, on] {
        while (submitted <= i) std::this_thread::yield();
        fib(12);
        if (on >= 0) all[static_cast<std::size_t>(on)].wait();
        fib(8);
        return i;
      });
      ++submitted;
    };
    for (int i = 0; i < count; ++i) submit_one(i);
    for (const auto& each : all) each.wait();
    for (int i = 0; i < count; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].get(), i);
  });
}

TEST(future, a_request_may_wait_for_a_later_request) {
  on_runtimes([](runtime& rt) {
    std::atomic<bool> known{false};
    future<int> later;
    auto first = rt.submit([&] {
      while (!known) std::this_thread::yield();
      return later.get() + 1;
    });
    auto between = rt.submit([&] {
      while (!known) std::this_thread::yield();
      first.wait();
      return 1;
    });
    later = rt.submit([] { return 40; });
    known = true;
    EXPECT_EQ(between.get(), 1);
    EXPECT_EQ(first.get(), 41);
  });
}

TEST(future, requests_that_submit_requests_and_wait_for_them_end) {
  on_runtimes([](runtime& rt) {
    struct tree {
      static long sum(runtime& runtime, int depth) {
        if (depth == 0) return 1;
        auto a = runtime.submit([&runtime, depth] { return sum(runtime, depth - 1); });
        auto b = runtime.submit([&runtime, depth] { return sum(runtime, depth - 1); });
        return a.get() + b.get();
      }
    };
    EXPECT_EQ(rt.submit([&] { return tree::sum(rt, 8); }).get(), 256);
  });
}

// There are far more requests than threads, so each thread must run several of them on top of each other.
TEST(future, requests_that_wait_for_later_ones_end_with_few_spare_threads) {
  for (const unsigned workers : {1U, 2U, 4U}) {
    runtime rt{{.workers = workers, .spare_threads = 2}};
    const std::function<int(int)> deep = [&](int left) {
      return left == 0 ? 0 : 1 + rt.submit([&, left] { return deep(left - 1); }).get();
    };
    for (int round = 0; round < 10; ++round) EXPECT_EQ(deep(1000), 1000);
  }
}

TEST(future, a_circle_of_waits_is_a_named_error) {
  runtime rt{{.workers = 2}};
  std::atomic<bool> known{false};
  future<int> itself;
  itself = rt.submit([&] {
    while (!known) std::this_thread::yield();
    itself.wait();
    return 1;
  });
  known = true;
  EXPECT_THROW(itself.get(), future_waits_for_itself);
}

TEST(future, is_valid_until_its_value_has_been_taken) {
  runtime rt{{.workers = 1}};
  future<int> none;
  EXPECT_FALSE(none.valid());
  EXPECT_THROW(static_cast<void>(none.ready()), misuse);
  EXPECT_THROW(none.wait(), misuse);
  EXPECT_THROW(none.get(), misuse);
  EXPECT_THROW(none.then([](int) {}), misuse);
  auto some = rt.submit([] { return 1; });
  EXPECT_TRUE(some.valid());
  some.wait();
  EXPECT_TRUE(some.ready());
  none = std::move(some);
  EXPECT_EQ(none.get(), 1);
  EXPECT_FALSE(none.valid());
}

TEST(future, then_has_the_value_and_passes_exceptions_on) {
  on_runtimes([](runtime& rt) {
    EXPECT_EQ(rt.submit([] { return 20; })
                  .then([](int x) { return x + 1; })
                  .then([](int x) { return 2 * x; })
                  .get(),
              42);
    int seen = 0;
    rt.submit([&] { seen = 1; }).then([&] { seen += 1; }).get();
    EXPECT_EQ(seen, 2);
    bool called = false;
    auto failed =
        rt.submit([]() -> int { throw std::out_of_range("first"); }).then([&](int) { called = true; });
    EXPECT_THROW(failed.get(), std::out_of_range);
    EXPECT_FALSE(called);
    EXPECT_THROW(rt.submit([] { return 1; }).then([](int) { throw std::length_error("second"); }).get(),
                 std::length_error);
    auto ready = rt.submit([] { return 1; });
    ready.wait();
    EXPECT_TRUE(ready.then([](int) { return worker_index().has_value(); }).get());
  });
}

TEST(future, a_long_chain_needs_no_stack) {
  runtime rt{{.workers = 2}};
  std::atomic<bool> go{false};
  auto last = rt.submit([&] {
    while (!go) std::this_thread::yield();
    return 0;
  });
  constexpr int steps = 20'000;
  for (int i = 0; i < steps; ++i) last = last.then([](int x) { return x + 1; });
  go = true;
  EXPECT_EQ(last.get(), steps);
}

TEST(future, when_all_has_all_values_in_order) {
  on_runtimes([](runtime& rt) {
    auto [a, b, c] = when_all(rt.submit([] { return 1; }), rt.submit([] {}), rt.submit([] {
                       return std::string("c");
                     })).get();
    EXPECT_EQ(a, 1);
    EXPECT_EQ(b, std::monostate{});
    EXPECT_EQ(c, "c");
    std::vector<future<int>> many;
    for (int i = 0; i < 100; ++i) many.push_back(rt.submit([i] { return i; }));
    const auto values = when_all(std::move(many)).get();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
    std::atomic<int> ran{0};
    std::vector<future<void>> effects;
    for (int i = 0; i < 100; ++i) effects.push_back(rt.submit([&] { ++ran; }));
    when_all(effects).get();
    EXPECT_EQ(ran, 100);
    EXPECT_TRUE(when_all(std::vector<future<int>>{}).get().empty());
  });
}

TEST(future, when_all_has_the_first_exception_after_all_have_ended) {
  on_runtimes([](runtime& rt) {
    std::atomic<int> ended{0};
    auto all = when_all(rt.submit([&] { ++ended; }), rt.submit([&] {
      ++ended;
      throw std::out_of_range("second");
    }),
                        rt.submit([&] {
                          ++ended;
                          throw std::length_error("third");
                        }));
    EXPECT_THROW(all.get(), std::out_of_range);
    EXPECT_EQ(ended, 3);
  });
}

TEST(future, when_all_is_waited_for_within_a_request) {
  on_runtimes([](runtime& rt) {
    auto sum = rt.submit([&] {
      std::vector<future<long>> parts;
      for (int i = 0; i < 20; ++i) parts.push_back(rt.submit([] { return fib(10); }));
      const auto values = when_all(parts).get();
      return std::accumulate(values.begin(), values.end(), 0L);
    });
    auto waits = rt.submit([&] { return 1; });
    EXPECT_EQ(sum.get() + waits.get(), 20 * 55 + 1);
  });
}

TEST(future, when_any_has_the_first_value_and_gives_the_other_futures_back) {
  on_runtimes([](runtime& rt) {
    if (rt.workers() == 1) return;  // which could not run the second beside the first
    std::atomic<bool> go{false};
    auto any = when_any(rt.submit([&] {
      while (!go) std::this_thread::yield();
      return 1;
    }),
                        rt.submit([] { return 2; }));
    auto [index, futures] = any.get();
    EXPECT_EQ(index, 1U);
    EXPECT_EQ(std::get<1>(futures).get(), 2);
    go = true;
    EXPECT_EQ(std::get<0>(futures).get(), 1);
  });
}

TEST(future, when_any_of_a_range_has_a_future_that_is_ready) {
  on_runtimes([](runtime& rt) {
    std::vector<future<int>> all;
    for (int i = 0; i < 20; ++i) all.push_back(rt.submit([i] { return i; }));
    auto first = when_any(all).get();
    EXPECT_TRUE(first.futures[first.index].ready());
    int sum = 0;
    for (auto& each : first.futures) sum += each.get();
    EXPECT_EQ(sum, 190);
    EXPECT_THROW(static_cast<void>(when_any(std::vector<future<int>>{})), misuse);
    std::vector<future<int>> dropped;
    for (int i = 0; i < 20; ++i) dropped.push_back(rt.submit([i] { return i; }));
    EXPECT_LT(when_any(dropped).get().index, 20U);
  });
}

TEST(future, a_request_that_was_stopped_does_not_begin) {
  runtime rt{{.workers = 1}};
  std::stop_source stop;
  std::atomic<bool> go{false};
  auto busy = rt.submit([&] {
    while (!go) std::this_thread::yield();
  });
  bool called = false;
  auto stopped = rt.submit(stop.get_token(), [&] { called = true; });
  stop.request_stop();
  go = true;
  EXPECT_THROW(stopped.get(), request_stopped);
  EXPECT_FALSE(called);
  busy.get();
}

TEST(future, a_request_may_look_at_its_stop_token) {
  on_runtimes([](runtime& rt) {
    std::stop_source stop;
    std::atomic<bool> begun{false};
    auto seen = rt.submit(stop.get_token(), [&](const std::stop_token& token) {
      begun = true;
      while (!token.stop_requested()) std::this_thread::yield();
      return 7;
    });
    while (!begun) std::this_thread::yield();
    stop.request_stop();
    EXPECT_EQ(seen.get(), 7);
    EXPECT_EQ(rt.submit(std::stop_token{}, [] { return 8; }).get(), 8);
  });
}

TEST(future, dropped_does_not_cancel_and_shutdown_waits_for_it) {
  on_runtimes([](runtime& some) {
    std::atomic<int> ran{0};
    {
      runtime rt{{.workers = some.workers()}};
      for (int i = 0; i < 100; ++i) {
        rt.submit([&] { ++ran; }).then([&] { ++ran; });
      }
    }
    EXPECT_EQ(ran, 200);
  });
}

TEST(future, a_request_in_progress_may_submit_more_while_the_runtime_shuts_down) {
  on_runtimes([](runtime& some) {
    std::atomic<int> ran{0};
    {
      runtime rt{{.workers = some.workers()}};
      rt.submit([&] {
        for (int i = 0; i < 20; ++i) {
          std::this_thread::yield();
          rt.submit([&] { ++ran; });
          EXPECT_EQ(rt.submit([] { return 1; }).get(), 1);
        }
      });
    }
    EXPECT_EQ(ran, 20);
  });
}

TEST(future, outlives_its_runtime) {
  std::optional<runtime> rt;
  rt.emplace(runtime_options{.workers = 2});
  auto value = rt->submit([] { return 5; });
  auto other = rt->submit([] { return 6; });
  rt.reset();
  EXPECT_TRUE(value.ready());
  EXPECT_EQ(value.get(), 5);
  EXPECT_THROW(other.then([](int) {}), runtime_was_shut_down);
  ASSERT_TRUE(other.valid()) << "it has its value as before";
  EXPECT_EQ(other.get(), 6);
}

TEST(future, of_a_runtime_after_its_shutdown_is_a_named_error) {
  runtime rt{{.workers = 1}};
  rt.shutdown();
  EXPECT_THROW(rt.submit([] {}), runtime_was_shut_down);
}

// As the smart pointers of some libraries: & gives the address of something else, and new is their own.
struct own_address : counted_copy {
  using counted_copy::counted_copy;
  void operator&() const = delete;
  static void* operator new(std::size_t) = delete;
};

TEST(future, values_with_an_address_operator_of_their_own_are_destroyed_once) {
  std::atomic<int> values{0};
  {
    runtime rt{{.workers = 2}};
    const auto make = [&] { return own_address(values); };
    const auto make_const = [&]() -> const own_address { return own_address(values); };
    rt.submit(make).wait();
    static_cast<void>(rt.submit(make_const)
                          .then([](const own_address& value) -> const own_address& { return value; })
                          .get());
    rt.run([&] {
      static_cast<void>(join(make, make_const));
      auto forked = fork(make_const);
      static_cast<void>(forked.get());
      static_cast<void>(blocking(make_const));
    });
    static_cast<void>(rt.run(make_const));
  }
  EXPECT_EQ(values, 0);
}

TEST(future, closures_and_values_are_destroyed_once_and_closures_at_once) {
  std::atomic<int> closures{0};
  std::atomic<int> values{0};
  {
    runtime rt{{.workers = 4}};
    std::vector<future<counted_copy>> kept;
    for (int i = 0; i < 100; ++i) {
      auto f = [c = counted_copy(closures), &values, i] {
        if (i % 5 == 0) throw std::out_of_range("f");
        return counted_copy(values);
      };
      auto made = rt.submit(std::move(f));
      if (i % 3 == 0) {
        kept.push_back(std::move(made));
      } else if (i % 3 == 1) {
        static_cast<void>(made.then([c = counted_copy(closures)](counted_copy value) { return value; }));
      }
    }
    for (auto& each : kept) each.wait();
    auto last = rt.submit([c = counted_copy(closures)] {});
    last.wait();
    int failed = 0;
    for (auto& each : kept) {
      try {
        each.get();
      } catch (const std::out_of_range&) {
        ++failed;
      }
    }
    EXPECT_EQ(failed, 7);
  }
  EXPECT_EQ(closures, 0);
  EXPECT_EQ(values, 0);
}

TEST(future, a_hundred_thousand_may_wait_at_a_time) {
  constexpr long count = under_sanitizer ? 10'000 : 100'000;
  for (const unsigned workers : {1U, 2U, 4U}) {
    runtime rt{{.workers = workers}};
    std::vector<future<long>> all;
    all.reserve(count);
    for (long i = 0; i < count; ++i) all.push_back(rt.submit([i] { return i; }));
    long sum = 0;
    for (auto& each : all) sum += each.get();
    EXPECT_EQ(sum, count * (count - 1) / 2);
    sum = rt.run([&] {
      std::vector<future<long>> within;
      for (long i = 0; i < count; ++i) within.push_back(rt.submit([i] { return i; }));
      long total = 0;
      for (auto& each : within) total += each.get();
      return total;
    });
    EXPECT_EQ(sum, count * (count - 1) / 2);
  }
}

// If all threads sleep when the request comes, a spare thread begins and allocates, too. So the fewest
// allocations of some tries count.
TEST(future, costs_one_allocation) {
  runtime rt{{.workers = 1}};
  const auto fewest = [](auto request) {
    auto least = std::numeric_limits<std::uint64_t>::max();
    for (int i = 0; i < 100; ++i) {
      const auto before = allocations();
      EXPECT_EQ(request(), 1);
      least = std::min(least, allocations() - before);
    }
    return least;
  };
  EXPECT_EQ(fewest([&] { return rt.submit([] { return 1; }).get(); }), 1);
  EXPECT_EQ(fewest([&] { return rt.submit([] { return 1; }).then([](int x) { return x; }).get(); }), 2);
}

TEST(future, of_one_runtime_is_waited_for_by_workers_of_another) {
  runtime one{{.workers = 2}};
  runtime other{{.workers = 2}};
  std::vector<future<long>> sums;
  for (int i = 0; i < 20; ++i) {
    sums.push_back(one.submit(
        [&] { return other.submit([&] { return one.submit([] { return fib(10); }).get(); }).get(); }));
  }
  for (auto& each : sums) EXPECT_EQ(each.get(), 55);
}

TEST(worker_index, tells_workers_from_other_threads) {
  runtime rt{{.workers = 3}};
  EXPECT_EQ(worker_index(), std::nullopt);
  const auto inside = rt.run([] { return worker_index(); });
  ASSERT_TRUE(inside.has_value());
  EXPECT_LT(*inside, 3U);
}

// ---- Coroutines ----

future<int> sum_of_two(runtime& rt, int a, int b) {
  const int x = co_await rt.submit([=] { return a; });
  EXPECT_TRUE(worker_index().has_value());
  const int y = co_await rt.submit([=] { return b; });
  co_return x + y;
}

future<void> failing(runtime& rt) {
  co_await rt.submit([] { throw std::out_of_range("awaited"); });
}

future<long> deep(runtime& rt, int depth) {
  if (depth == 0) co_return 1;
  auto left = deep(rt, depth - 1);
  auto right = rt.submit([&rt, depth] { return deep(rt, depth - 1).get(); });
  co_return co_await left + co_await right;
}

future<int> at_once() {
  co_return 3;
}

TEST(coroutine, awaits_futures_and_goes_on_on_a_worker) {
  on_runtimes([](runtime& rt) {
    EXPECT_EQ(sum_of_two(rt, 1, 2).get(), 3);
    EXPECT_EQ(rt.run([&] { return sum_of_two(rt, 3, 4).get(); }), 7);
    EXPECT_EQ(sum_of_two(rt, 1, 2).then([](int x) { return 2 * x; }).get(), 6);
    auto [a, b] = when_all(sum_of_two(rt, 1, 2), sum_of_two(rt, 3, 4)).get();
    EXPECT_EQ(a + b, 10);
    EXPECT_THROW(failing(rt).get(), std::out_of_range);
    EXPECT_EQ(deep(rt, 6).get(), 64);
    EXPECT_EQ(at_once().get(), 3);
    EXPECT_EQ(at_once().then([](int x) { return x + 1; }).get(), 4);
  });
}

TEST(coroutine, that_is_dropped_runs_to_its_end_and_is_destroyed) {
  std::atomic<int> alive{0};
  std::atomic<int> ended{0};
  {
    runtime rt{{.workers = 2}};
    const auto coroutine = [](runtime& on, counted_copy held, std::atomic<int>& count) -> future<int> {
      co_await on.submit([] {});
      const counted_copy copy = held;
      co_await on.submit([] {});
      ++count;
      co_return 1;
    };
    for (int i = 0; i < 100; ++i) static_cast<void>(coroutine(rt, counted_copy(alive), ended));
  }
  EXPECT_EQ(ended, 100);
  EXPECT_EQ(alive, 0);
}

// ---- Promises, and waits for a time ----

TEST(promise, gives_its_future_a_value_from_any_thread) {
  on_runtimes([](runtime& rt) {
    promise<std::unique_ptr<int>> made;
    auto later = made.get_future();
    EXPECT_FALSE(later.ready());
    std::thread other([&made] { made.set_value(std::make_unique<int>(7)); });
    EXPECT_EQ(rt.run([&] { return *later.get(); }), 7);
    other.join();

    int target = 1;
    promise<int&> of_reference;
    auto reference = of_reference.get_future();
    rt.submit([&] { of_reference.set_value(target); }).get();
    reference.get() = 2;
    EXPECT_EQ(target, 2);

    promise<void> of_nothing;
    auto nothing = of_nothing.get_future();
    of_nothing.set_value();
    nothing.get();
  });
}

template <class T, class Value>
concept can_set = requires(promise<T>& made, Value&& value) { made.set_value(std::forward<Value>(value)); };

TEST(promise, of_a_constant_reference_takes_no_temporary) {
  static_assert(can_set<const std::string&, std::string&> && can_set<const std::string&, const std::string&>);
  static_assert(can_set<const std::string&, std::reference_wrapper<std::string>>);
  static_assert(!can_set<const std::string&, std::string> && !can_set<const std::string&, const char*&>);
  static_assert(!can_set<const double&, int&> && can_set<int&, int&> && !can_set<int&, int>);
  static_assert(can_set<std::string, const char*> && can_set<std::string, std::string>);
}

TEST(promise, gives_its_future_an_exception_or_breaks) {
  promise<int> fails;
  auto failed = fails.get_future();
  fails.set_exception(std::make_exception_ptr(std::out_of_range("of the library")));
  EXPECT_THROW(failed.get(), std::out_of_range);

  std::optional<promise<int>> ends(std::in_place);
  auto broken = ends->get_future();
  ends.reset();
  EXPECT_THROW(broken.get(), broken_promise);

  promise<int> first;
  auto of_first = first.get_future();
  first = promise<int>();  // which ends the first one
  EXPECT_THROW(of_first.get(), broken_promise);
}

TEST(promise, has_one_future_and_gives_one_value) {
  promise<int> made;
  auto later = made.get_future();
  EXPECT_THROW(static_cast<void>(made.get_future()), misuse);
  made.set_value(1);
  EXPECT_THROW(made.set_value(2), misuse);
  EXPECT_THROW(made.set_exception(std::make_exception_ptr(misuse("too late"))), misuse);
  EXPECT_EQ(later.get(), 1);
  EXPECT_THROW(promise<int>().set_exception(nullptr), misuse);
}

TEST(promise, may_be_destroyed_by_what_follows) {
  auto made = std::make_unique<promise<int>>();
  auto follows = made->get_future().then([&made](int value) {
    made.reset();
    return value;
  });
  made->set_value(1);
  EXPECT_EQ(follows.get(), 1);
}

TEST(promise, calls_what_follows_on_the_thread_that_gives_the_value) {
  promise<int> made;
  auto where = made.get_future().then([](int) { return std::this_thread::get_id(); });
  made.set_value(1);
  EXPECT_EQ(where.get(), std::this_thread::get_id());
}

TEST(future, is_waited_for_no_longer_than_a_time) {
  on_runtimes([](runtime& rt) {
    promise<int> made;
    auto later = made.get_future();
    const auto never_comes = [&] {
      EXPECT_FALSE(later.wait_for(std::chrono::milliseconds(-1)));
      EXPECT_FALSE(later.wait_for(std::chrono::duration<double, std::micro>(1.5)));
      EXPECT_FALSE(later.wait_for(std::chrono::hours::min()));
      EXPECT_FALSE(later.wait_until(std::chrono::system_clock::now()));
      EXPECT_FALSE(later.wait_until(std::chrono::system_clock::time_point::min()));
    };
    never_comes();
    rt.run(never_comes);
    std::thread other([&made] { made.set_value(3); });
    EXPECT_TRUE(later.wait_for(std::chrono::hours::max()));
    other.join();
    EXPECT_TRUE(later.wait_for(std::chrono::seconds(0)));
    EXPECT_EQ(later.get(), 3);
  });
}

// On the only worker, too: another thread runs the request meanwhile.
TEST(future, of_a_request_comes_while_a_task_waits_for_a_time) {
  on_runtimes([](runtime& rt) {
    const int got = rt.run([&] {
      auto later = rt.submit([] { return fib(10); });
      EXPECT_TRUE(later.wait_for(std::chrono::hours(1)));
      return later.get();
    });
    EXPECT_EQ(got, 55);
  });
}

TEST(future, keeps_nothing_of_waits_that_have_timed_out) {
  promise<int> made;
  auto later = made.get_future();
  EXPECT_FALSE(later.wait_for(std::chrono::microseconds(1)));
  const auto before = allocations();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(later.wait_for(std::chrono::microseconds(1)));
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace teff::test
