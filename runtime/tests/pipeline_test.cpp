// Pipelines: order, the bound of tokens, exceptions, nesting, and the lifetime of values.
#include <teff/detail/platform/processor_clock.hpp>
#include <teff/pipeline.hpp>

#include "allocations.hpp"
#include "workers.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

// Makes 0, 1, 2 and so on.
auto numbers(int count) {
  return serial([next = 0, count]() mutable -> std::optional<int> {
    if (next == count) return std::nullopt;
    return next++;
  });
}

// Takes so long that the pipeline shares its tokens.
void take_time() {
  volatile std::uint64_t x = 1;
  for (int i = 0; i < 3000; ++i) x = x * 3 + 1;
}

std::vector<int> first_numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// A function whose calls must not overlap.
class exclusive {
 public:
  exclusive() = default;
  exclusive(const exclusive&) = delete;
  exclusive& operator=(const exclusive&) = delete;
  void enter() { EXPECT_FALSE(inside_.exchange(true, std::memory_order_relaxed)); }
  void leave() { inside_.store(false, std::memory_order_relaxed); }

 private:
  std::atomic<bool> inside_{false};
};

TEST(pipeline, carries_every_token_through_all_stages_in_order) {
  on_runtimes([](runtime& rt) {
    for (const int count : {0, 1, 2, 3, 1000}) {
      for (const std::size_t tokens : {1, 2, 3, 7, 64}) {
        std::vector<int> second, last;  // not atomic: the sanitizers see whether stages are serial
        rt.run([&] {
          parallel_pipeline(tokens, numbers(count), serial([&](int i) {
                              take_time();
                              second.push_back(i);
                              return i;
                            }),
                            parallel([](int i) {
                              if (i % 7 == 0) take_time();
                              return 2L * i;
                            }),
                            serial([&](long i) { last.push_back(static_cast<int>(i / 2)); }));
        });
        ASSERT_EQ(second, first_numbers(count)) << tokens << " tokens";
        ASSERT_EQ(last, first_numbers(count)) << tokens << " tokens";
      }
    }
  });
}

TEST(pipeline, of_random_stages_keeps_its_promises) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  on_runtimes([&](runtime& rt) {
    for (int round = 0; round < 10; ++round) {
      const auto tokens = 1 + random() % 20;
      const auto salt = random();
      const auto some_time = [salt](int i, int stage) {
        if (((static_cast<std::uint64_t>(i) * 31 + static_cast<std::uint64_t>(stage)) ^ salt) % 5 == 0)
          take_time();
      };
      std::atomic<std::uint64_t> live{0};
      std::atomic<std::uint64_t> most{0};
      std::vector<int> in_order, any_order, at_end;
      exclusive serial_stage, unordered_stage;
      rt.run([&] {
        auto source = numbers(500);
        parallel_pipeline(tokens, serial([&]() -> std::optional<int> {
                            auto next = source.function();
                            if (next) most = std::max(most.load(), ++live);
                            return next;
                          }),
                          parallel([&](int i) {
                            some_time(i, 1);
                            return i;
                          }),
                          serial_out_of_order([&](int i) {
                            unordered_stage.enter();
                            some_time(i, 2);
                            any_order.push_back(i);
                            unordered_stage.leave();
                            return i;
                          }),
                          serial([&](int i) {
                            serial_stage.enter();
                            some_time(i, 3);
                            in_order.push_back(i);
                            serial_stage.leave();
                            return i;
                          }),
                          parallel([&](int i) {
                            some_time(i, 4);
                            return i;
                          }),
                          serial_out_of_order([&](int i) {
                            at_end.push_back(i);
                            --live;
                          }));
      });
      EXPECT_EQ(in_order, first_numbers(500));
      std::ranges::sort(any_order);
      std::ranges::sort(at_end);
      EXPECT_EQ(any_order, first_numbers(500));
      EXPECT_EQ(at_end, first_numbers(500));
      EXPECT_LE(most, tokens);
      EXPECT_EQ(live, 0U);
    }
  });
}

TEST(pipeline, ends_only_if_several_workers_carry_its_tokens) {
  runtime rt{{.workers = 2}};
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  rt.run([&] {
    parallel_pipeline(4,
                      serial([&]() -> std::optional<int> { return met ? std::nullopt : std::optional(1); }),
                      parallel([&](int i) {
                        if (++inside > 1) met = true;
                        take_time();
                        --inside;
                        return i;
                      }),
                      serial([](int) {}));
  });
  EXPECT_TRUE(met);
}

TEST(pipeline, of_one_token_at_a_time_begins_a_token_when_the_one_before_has_left) {
  on_runtimes([](runtime& rt) {
    std::string seen;
    rt.run([&] {
      parallel_pipeline(1, serial([&, i = 0]() mutable -> std::optional<int> {
                          seen += 'a';
                          take_time();
                          return i++ < 5 ? std::optional(i) : std::nullopt;
                        }),
                        parallel([&](int i) {
                          seen += 'b';
                          return i;
                        }),
                        parallel([&](int) { seen += 'c'; }));
    });
    EXPECT_EQ(seen, "abcabcabcabcabca");
  });
}

TEST(pipeline, outside_the_workers_runs_on_the_default_runtime) {
  std::vector<int> last;
  parallel_pipeline(8, numbers(100), parallel([&](int i) {
                      EXPECT_EQ(detail::this_worker().runtime,
                                &detail::private_access::internals(default_runtime()));
                      return i;
                    }),
                    serial([&](int i) { last.push_back(i); }));
  EXPECT_EQ(last, first_numbers(100));
  EXPECT_THROW(parallel_pipeline(8, numbers(100), serial([](int) { throw std::out_of_range("outside"); })),
               std::out_of_range);
}

TEST(pipeline, takes_any_number_of_tokens_at_a_time) {
  for (const auto tokens : {std::size_t{1} << 40, (std::size_t{1} << 63) + 1, SIZE_MAX}) {
    on_runtimes([&](runtime& rt) {
      std::vector<int> last;
      rt.run([&] {
        parallel_pipeline(tokens, numbers(20000), parallel([](int i) { return i; }),
                          serial([&](int i) { last.push_back(i); }));
      });
      EXPECT_EQ(last, first_numbers(20000));
    });
  }
}

TEST(pipeline, for_no_token_is_refused) {
  EXPECT_THROW(parallel_pipeline(0, numbers(1), serial([](int) {})), misuse);
}

// A value that can only be moved. It counts how many values live.
class counted_value {
 public:
  explicit counted_value(std::atomic<int>& alive) : alive_(&alive) { ++*alive_; }
  counted_value(counted_value&& from) noexcept : alive_(from.alive_), value(std::move(from.value)) {
    ++*alive_;
  }
  counted_value& operator=(counted_value&&) = delete;
  ~counted_value() { --*alive_; }

 private:
  std::atomic<int>* alive_;

 public:
  std::unique_ptr<int> value = std::make_unique<int>(0);
};

TEST(pipeline, destroys_every_value_that_it_moves) {
  on_runtimes([](runtime& rt) {
    std::atomic<int> alive{0};
    int sum = 0;
    rt.run([&] {
      parallel_pipeline(5, serial([&, i = 0]() mutable -> std::optional<counted_value> {
                          if (i == 300) return std::nullopt;
                          counted_value made(alive);
                          *made.value = i++;
                          return made;
                        }),
                        parallel([](counted_value each) {
                          if (*each.value % 3 == 0) take_time();
                          return each;
                        }),
                        serial([](counted_value&& each) {
                          take_time();
                          return std::move(each);
                        }),
                        serial([&](const counted_value& each) { sum += *each.value; }));
    });
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(sum, 300 * 299 / 2);
  });
}

TEST(pipeline, that_fails_at_any_stage_destroys_the_tokens_under_way_and_throws_the_exception) {
  on_runtimes([](runtime& rt) {
    for (int stage = 0; stage < 4; ++stage) {
      for (const int at : {0, 1, 50}) {
        std::atomic<int> alive{0};
        std::atomic<int> running{0};
        std::atomic<int> reached{0};
        const auto maybe_throw = [&](int here, const counted_value& each) {
          ++running;
          if (*each.value % 3 == 0) take_time();
          --running;
          if (here == stage && *each.value >= at) {
            ++reached;
            throw std::out_of_range("stage");
          }
        };
        EXPECT_THROW(rt.run([&] {
          parallel_pipeline(6, serial([&, i = 0]() mutable -> std::optional<counted_value> {
                              counted_value made(alive);  // never ends
                              *made.value = i++;
                              maybe_throw(0, made);
                              return made;
                            }),
                            serial([&](counted_value each) {
                              maybe_throw(1, each);
                              return each;
                            }),
                            parallel([&](counted_value each) {
                              maybe_throw(2, each);
                              return each;
                            }),
                            serial_out_of_order([&](counted_value each) { maybe_throw(3, each); }));
        }),
                     std::out_of_range);
        EXPECT_EQ(alive, 0);
        EXPECT_EQ(running, 0);
        EXPECT_GE(reached, 1);
      }
    }
  });
}

TEST(pipeline, throws_what_the_move_of_a_value_throws) {
  struct heavy {
    explicit heavy(int n) : number(n) {}
    heavy(heavy&& from) : number(from.number) {
      if (number == 200) throw std::length_error("move");
    }
    int number;
  };
  on_runtimes([](runtime& rt) {
    EXPECT_THROW(rt.run([&] {
      parallel_pipeline(6, serial([i = 0]() mutable { return std::optional<heavy>(std::in_place, i++); }),
                        parallel([](heavy each) {
                          take_time();
                          return heavy(each.number);
                        }),
                        serial([](heavy&&) { take_time(); }));
    }),
                 std::length_error);
  });
}

TEST(pipeline, can_be_run_again_after_it_failed) {
  on_runtimes([](runtime& rt) {
    bool fails = true;
    std::vector<int> last;
    auto middle = parallel([&](int i) {
      take_time();
      if (fails && i == 20) throw std::out_of_range("once");
      return i;
    });
    auto sink = serial([&](int i) { last.push_back(i); });
    EXPECT_THROW(rt.run([&] { parallel_pipeline(4, numbers(100), middle, sink); }), std::out_of_range);
    fails = false;
    last.clear();
    rt.run([&] { parallel_pipeline(4, numbers(100), middle, sink); });
    EXPECT_EQ(last, first_numbers(100));
  });
}

TEST(pipeline, may_have_loops_joins_and_pipelines_in_its_stages) {
  on_runtimes([](runtime& rt) {
    long sum = 0;
    rt.run([&] {
      parallel_pipeline(5, numbers(30), parallel([](int i) {
                          return i +
                                 parallel_reduce(0, 1000, 0L, std::plus<>{}, [](int k) { return long{k}; });
                        }),
                        serial([](long i) { return i + fib(12); }), parallel([](long i) {
                          long inner = 0;
                          parallel_pipeline(3, numbers(10), parallel([](int k) {
                                              take_time();
                                              return k;
                                            }),
                                            serial([&](int k) { inner += k; }));
                          return i + inner;
                        }),
                        serial([&](long i) { sum += i; }));
    });
    EXPECT_EQ(sum, 30L * 29 / 2 + 30 * (999L * 1000 / 2 + 144 + 45));
  });
}

TEST(pipeline, many_pipelines_run_at_a_time_in_tasks) {
  on_runtimes([](runtime& rt) {
    std::atomic<int> right{0};
    rt.run([&] {
      parallel_for(0, 40, [&](int) {
        std::vector<int> last;
        parallel_pipeline(4, numbers(50), parallel([](int i) {
                            take_time();
                            return i;
                          }),
                          serial([&](int i) { last.push_back(i); }));
        if (last == first_numbers(50)) ++right;
      });
    });
    EXPECT_EQ(right, 40);
  });
}

TEST(pipeline, runs_in_a_task_of_a_graph) {
  on_runtimes([](runtime& rt) {
    std::atomic<int> right{0};
    task_graph<int> graph{rt};
    graph.indegree([](int) { return 1; }).body([&](int) {
      std::vector<int> last;
      parallel_pipeline(4, numbers(50), parallel([](int i) {
                          take_time();
                          return i;
                        }),
                        serial([&](int i) { last.push_back(i); }));
      if (last == first_numbers(50)) ++right;
    });
    for (int i = 0; i < 20; ++i) graph.fulfill(i);
    graph.wait();
    EXPECT_EQ(right, 20);
  });
}

TEST(pipeline, whose_tokens_are_long_then_short_then_long_keeps_order) {
  on_runtimes([](runtime& rt) {
    std::vector<int> last;
    rt.run([&] {
      parallel_pipeline(8, numbers(9000), parallel([](int i) {
                          if (i / 1000 % 2 == 0) take_time();
                          return i;
                        }),
                        serial([&](int i) { last.push_back(i); }));
    });
    EXPECT_EQ(last, first_numbers(9000));
  });
}

// Also where tokens take long enough that two workers would share them.
TEST(pipeline, of_one_worker_allocates_nothing) {
  runtime rt{{.workers = 1}};
  rt.run([] {
    const auto before = allocations();
    long sum = 0;
    parallel_pipeline(100, numbers(100), parallel([](int i) {
                        const auto begun = detail::processor_clock::now();
                        while (detail::processor_clock::now() - begun < detail::processor_clock::in(50'000))
                          continue;
                        return i;
                      }),
                      serial([&](int i) { sum += i; }));
    EXPECT_EQ(allocations(), before);
    EXPECT_EQ(sum, 100 * 99 / 2);
  });
}

TEST(pipeline, takes_stages_by_reference_and_functions_of_all_kinds) {
  struct adder {
    int by;
    int operator()(int i) const { return i + by; }
  };
  struct member {
    long value;
    [[nodiscard]] int plus_one() const { return static_cast<int>(value) + 1; }
  };
  int sum = 0;
  auto sink = serial([&](int i) { sum += i; });
  const auto middle = parallel(adder{1});
  parallel_pipeline(2, numbers(3), middle, serial([](int i) { return member{i}; }),
                    parallel(&member::plus_one), sink);
  EXPECT_EQ(sum, 2 + 3 + 4);
}

// pipeline_misuse.cpp tests the static_asserts of stages that are no pipeline.

}  // namespace
}  // namespace teff::test
