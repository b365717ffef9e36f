#include "workers.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

TEST(parallel_for, calls_the_body_once_for_every_index) {
  on_runtimes([](runtime& rt) {
    for (const int n : {0, 1, 2, 3, 1000, 100000}) {
      std::vector<std::atomic<int>> called(static_cast<std::size_t>(n));
      rt.run([&] { parallel_for(0, n, [&](int i) { ++called[static_cast<std::size_t>(i)]; }); });
      for (auto& each : called) ASSERT_EQ(each, 1);
    }
  });
}

TEST(parallel_for, takes_negative_wide_and_unsigned_indices) {
  runtime rt{{.workers = 2}};
  rt.run([] {
    std::atomic<long> sum{0};
    parallel_for(-100L, 101L, [&](long i) { sum += i; });
    EXPECT_EQ(sum, 0);
    parallel_for(std::numeric_limits<std::int8_t>::min(), std::numeric_limits<std::int8_t>::max(),
                 [&](std::int8_t) { ++sum; });
    EXPECT_EQ(sum, 255);
    parallel_for(5U, 5U, [&](unsigned) { sum = -1; });
    parallel_for(5, 4, [&](int) { sum = -1; });
    EXPECT_EQ(sum, 255);
  });
}

// The compiler refuses another type at the call, not in a header of detail.
template <class Index>
concept counts_loops = requires(Index i) {
  parallel_for(i, i, [](Index) {});
  parallel_for(i, i, i, [](Index) {});
  static_cast<void>(parallel_reduce(i, i, 0, std::plus<>{}, [](Index) { return 1; }));
  static_cast<void>(parallel_find_if(i, i, [](Index) { return true; }));
  static_cast<void>(parallel_any_of(i, i, [](Index) { return true; }));
  static_cast<void>(parallel_none_of(i, i, [](Index) { return true; }));
  static_cast<void>(parallel_all_of(i, i, [](Index) { return true; }));
  parallel_graph(i, [](Index) { return 0; }, [](Index, const auto&) {});
  grid(i, i);
};
template <class Index>
concept counts_some_loop =
    requires(Index i) { parallel_for(i, i, [](Index) {}); } ||
    requires(Index i) { parallel_for(0, i, [](int) {}); } ||
    requires(Index i) { parallel_for(0, 9, i, [](int) {}); } ||
    requires(Index i) {
      static_cast<void>(parallel_reduce(i, i, 0, std::plus<>{}, [](Index) { return 1; }));
    } || requires(Index i) { static_cast<void>(parallel_find_if(i, i, [](Index) { return true; })); } ||
    requires(Index i) { static_cast<void>(parallel_any_of(i, i, [](Index) { return true; })); } ||
    requires(Index i) { static_cast<void>(parallel_none_of(i, i, [](Index) { return true; })); } ||
    requires(Index i) { static_cast<void>(parallel_all_of(i, i, [](Index) { return true; })); } ||
    requires(Index i) { parallel_graph(i, [](Index) { return 0; }, [](Index, const auto&) {}); } ||
    requires(Index i) { grid(i, i); } || requires(Index i) { grid(5, 5).from(i, i); } ||
    requires(Index i) { grid(5, 5).tiles(i, i); };
enum class colour : std::uint8_t { red, green };
__extension__ using wider = __int128;  // an integer with -std=gnu++20
static_assert(counts_loops<int> && counts_loops<std::uint64_t> && counts_loops<char> &&
              counts_loops<char8_t> && counts_loops<wchar_t> && counts_loops<signed char>);
static_assert(!counts_some_loop<bool> && !counts_some_loop<double> && !counts_some_loop<colour> &&
              !counts_some_loop<wider> && !counts_some_loop<void*>);

// Two workers that write bits of one byte would lose some.
using bits = std::vector<bool>::iterator;
template <class Out>
concept takes_output =
    requires(std::vector<int>& from, Out out) { parallel_inclusive_scan(from, out); } ||
    requires(std::vector<int>& from, Out out) { parallel_exclusive_scan(from, out, 0); } ||
    requires(std::vector<int>& from, Out out) { parallel_transform(from, out, std::identity{}); } ||
    requires(std::vector<int>& from, Out out) { parallel_transform(from, from, out, std::plus<>{}); } ||
    requires(Out out) { parallel_sort(out, out); };
static_assert(takes_output<int*> && !takes_output<bits> && !takes_output<std::reverse_iterator<bits>>);
template <class Body>
concept loops_over_bits = requires(std::vector<bool>& all, Body body) { parallel_for(all, body); };
static_assert(loops_over_bits<void (*)(bool)> && loops_over_bits<void (*)(const bool&)>);
static_assert(!loops_over_bits<void (*)(std::vector<bool>::reference)> && !loops_over_bits<void (*)(bool&&)>);
static_assert(!loops_over_bits<void (*)(bits, bits)> &&
              !loops_over_bits<void (*)(std::ranges::subrange<bits>)>);
static_assert(detail::shares_memory<std::tuple<int&, std::vector<bool>::reference>>);

TEST(parallel_for, reads_bits) {
  runtime rt{{.workers = 2}};
  std::vector<bool> bits(10000, true);
  std::atomic<int> set{0};
  rt.run([&] {
    parallel_for(bits, [&](auto&& bit) {
      static_assert(std::is_same_v<decltype(bit), const bool&>);
      set += bit ? 1 : 0;
    });
  });
  EXPECT_EQ(set, 10000);
}

TEST(parallel_for, runs_over_ranges_and_iterators) {
  runtime rt{{.workers = 2}};
  std::vector<int> values(10000, 1);
  rt.run([&] {
    parallel_for(values, [](int& value) { value += 1; });
    parallel_for(values.begin(), values.end(), [](int& value) { value *= 2; });
  });
  for (const int value : values) ASSERT_EQ(value, 4);
}

// The difference of two iterators is wider than any integer there.
TEST(parallel_for, runs_over_iota_of_integers_of_64_bits) {
  on_runtimes([](runtime& rt) {
    using signed_limits = std::numeric_limits<long>;
    using unsigned_limits = std::numeric_limits<std::size_t>;
    const auto expect_each_once = [&](auto first, auto last) {
      const auto all = std::views::iota(first, last);
      std::vector<std::atomic<int>> met(static_cast<std::size_t>(last - first));
      rt.run([&] {
        parallel_for(all, [&](auto i) { ++met[static_cast<std::size_t>(i - first)]; });
        parallel_for(all.begin(), all.end(), [&](auto i) { ++met[static_cast<std::size_t>(i - first)]; });
        parallel_for(all, [&](auto i) { ++met[static_cast<std::size_t>(i - first)]; }, {.grain = 7});
      });
      for (const auto& each : met) ASSERT_EQ(each, 3);
    };
    expect_each_once(0L, 1000L);
    expect_each_once(5L, 5L);
    expect_each_once(std::size_t{0}, std::size_t{1000});
    expect_each_once(signed_limits::min(), signed_limits::min() + 1000);
    expect_each_once(signed_limits::max() - 1000, signed_limits::max());
    expect_each_once(unsigned_limits::max() - 1000, unsigned_limits::max());
  });
}

TEST(parallel_for, with_a_step_meets_the_limits_of_64_bits) {
  using limits = std::numeric_limits<long>;
  std::atomic<int> ran{0};
  std::atomic<unsigned long> sum{0};
  const auto add = [&](long i) {
    ++ran;
    sum += static_cast<unsigned long>(i);
  };
  parallel_for(limits::min(), limits::max(), limits::max(), add);  // min, -1, max - 1
  EXPECT_EQ(ran, 3);
  EXPECT_EQ(sum, static_cast<unsigned long>(-3));
  parallel_for(limits::max(), limits::min(), limits::min(), add);  // max, -1
  EXPECT_EQ(ran, 5);
}

// Clang before 16 can't compile any view of a view of GCC's library.
#if !defined(__clang__) || __clang_major__ >= 16
TEST(parallel_for, runs_over_views_of_iota_of_integers_of_64_bits) {
  std::atomic<long> sum{0};
  parallel_for(std::views::iota(0L, 1000L) | std::views::reverse | std::views::drop(10),
               [&](long i) { sum += i; });
  EXPECT_EQ(sum, 989 * 990 / 2);
  sum = 0;
  parallel_for(std::views::iota(0L, 1000L) | std::views::transform([](long i) { return 3 * i; }),
               [&](long i) { sum += i; });
  EXPECT_EQ(sum, 3 * 999 * 1000 / 2);
}
#endif

TEST(parallel_for, of_bounds_of_two_types_has_indices_of_the_type_that_holds_both) {
  const auto throw_first = [](auto first, auto last) {
    parallel_for(first, last, [](auto i) {
      static_assert(std::is_same_v<decltype(i), std::common_type_t<decltype(first), decltype(last)>>);
      throw i;
    });
  };
  EXPECT_THROW(throw_first(0, std::size_t{3'000'000'000}), std::size_t);
  EXPECT_THROW(throw_first(-3'000'000'000L, 5), long);
  EXPECT_THROW(throw_first(std::int8_t{-1}, std::int16_t{1000}), int);
  EXPECT_THROW(throw_first('a', 'c'), char);
  EXPECT_NO_THROW(throw_first(0U, -1));
  EXPECT_NO_THROW(throw_first(5, std::size_t{5}));
  EXPECT_THROW(throw_first(-1, 5U), misuse);
}

TEST(parallel_for, names_the_negative_bound_if_indices_are_unsigned) {
  const auto nothing = [](auto) {};
  const std::string way_out = ": a signed type for both can count from one to the other";
  EXPECT_EQ(text_of<misuse>([&] { parallel_for(-7, 10U, nothing); }),
            "teff::parallel_for: the first index is -7, and the indices are unsigned, as the last one is" +
                way_out);
  EXPECT_EQ(text_of<misuse>([&] { parallel_for(-7, 10U, 2, nothing); }),
            "teff::parallel_for: the first index is -7, and the indices are unsigned, as the last one is" +
                way_out);
  EXPECT_EQ(text_of<misuse>([&] { parallel_for(10U, -1, -1, nothing); }),
            "teff::parallel_for: the last index is -1, and the indices are unsigned, as the first one is" +
                way_out);
  EXPECT_EQ(text_of<misuse>([&] { parallel_for(std::size_t{10}, -1, -2, nothing); }),
            "teff::parallel_for: the last index is -1, and the indices are unsigned, as the first one is" +
                way_out);
  EXPECT_EQ(text_of<misuse>([&] { static_cast<void>(parallel_any_of(-2L, 1UL, [](auto) { return true; })); }),
            "teff::parallel_any_of: the first index is -2, and the indices are unsigned, as the last one is" +
                way_out);
  std::atomic<int> sum{0};
  parallel_for(10U, 0, -1, [&](unsigned i) { sum += static_cast<int>(i); });
  EXPECT_EQ(sum, 55);
}

TEST(parallel_for, nests) {
  on_runtimes([](runtime& rt) {
    std::atomic<int> cells{0};
    rt.run([&] { parallel_for(0, 50, [&](int) { parallel_for(0, 50, [&](int) { ++cells; }); }); });
    EXPECT_EQ(cells, 2500);
  });
}

TEST(parallel_for, throws_the_exception_of_an_iteration_when_no_iteration_runs_any_more) {
  on_runtimes([](runtime& rt) {
    std::atomic<int> running{0};
    EXPECT_THROW(rt.run([&] {
      parallel_for(0, 10000, [&](int i) {
        ++running;
        if (i == 7777) {
          --running;
          throw std::out_of_range("body");
        }
        --running;
      });
    }),
                 std::out_of_range);
    EXPECT_EQ(running, 0);
  });
}

// The other worker has half of the loop by then, which would take years.
TEST(parallel_for, runs_no_more_blocks_on_any_worker_when_an_iteration_has_thrown) {
  runtime rt{{.workers = 2}};
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> shared{false};
    EXPECT_THROW(rt.run([&] {
      const unsigned first = *worker_index();
      parallel_for(std::int64_t{0}, std::numeric_limits<std::int64_t>::max(), [&](std::int64_t) {
        if (*worker_index() != first) {
          shared = true;
        } else if (shared) {
          throw std::out_of_range("body");
        }
      });
    }),
                 std::out_of_range);
  }
}

TEST(parallel_for, steps_up_and_down) {
  on_runtimes([](runtime& rt) {
    for (const int step : {1, 2, 3, 7, 1000, 100000}) {
      std::vector<std::atomic<int>> up(10000);
      std::vector<std::atomic<int>> down(10000);
      rt.run([&] {
        parallel_for(0, 10000, step, [&](int i) { ++up[static_cast<std::size_t>(i)]; });
        parallel_for(9999, -1, -step, [&](int i) { ++down[static_cast<std::size_t>(i)]; });
      });
      for (int i = 0; i < 10000; ++i) {
        ASSERT_EQ(up[static_cast<std::size_t>(i)], i % step == 0) << i << " by " << step;
        ASSERT_EQ(down[static_cast<std::size_t>(i)], (9999 - i) % step == 0) << i << " by " << -step;
      }
    }
  });
}

TEST(parallel_for, steps_over_all_values_of_a_type) {
  runtime rt{{.workers = 1}};
  rt.run([&] {
    using limits = std::numeric_limits<std::int8_t>;
    std::vector<int> met;
    parallel_for(limits::min(), limits::max(), 100, [&](std::int8_t i) { met.push_back(i); });
    EXPECT_EQ(met, (std::vector{-128, -28, 72}));
    met.clear();
    parallel_for(limits::max(), limits::min(), -100, [&](std::int8_t i) { met.push_back(i); });
    EXPECT_EQ(met, (std::vector{127, 27, -73}));
    met.clear();
    parallel_for(5, 6, std::int64_t{1} << 40, [&](int i) { met.push_back(i); });
    parallel_for(0U, 3'000'000'000U, 2'000'000'000U, [&](unsigned i) { met.push_back(i == 0 ? 0 : 2); });
    EXPECT_EQ(met, (std::vector{5, 0, 2}));
    parallel_for(5, 5, 2, [](int) { FAIL(); });
    parallel_for(5, 6, -2, [](int) { FAIL(); });
    EXPECT_THROW(parallel_for(0, 1, 0, [](int) {}), misuse);
  });
}

TEST(parallel_for, gives_a_body_of_two_bounds_parts_that_make_up_the_loop) {
  on_runtimes([](runtime& rt) {
    std::vector<std::atomic<int>> called(100000);
    rt.run([&] {
      parallel_for(std::size_t{0}, called.size(), [&](std::size_t first, std::size_t last) {
        ASSERT_LT(first, last);
        for (; first != last; ++first) ++called[first];
      });
      parallel_for(called.begin(), called.end(), [](auto first, auto last) {
        for (; first != last; ++first) ++*first;
      });
    });
    for (auto& each : called) ASSERT_EQ(each, 2);
  });
}

TEST(parallel_for, gives_a_body_of_a_part_spans) {
  on_runtimes([](runtime& rt) {
    std::vector<int> values(100000, 1);
    rt.run([&] {
      parallel_for(values, [](std::span<int> part) {
        for (int& each : part) ++each;
      });
      parallel_for(std::as_const(values), [](std::span<const int> part) {
        for (const int each : part) ASSERT_EQ(each, 2);
      });
    });
    EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0), 200000);
  });
}

// Clang before 16 can't compile any subrange of GCC's library, nor could its users write such a body.
#if !defined(__clang__) || __clang_major__ >= 16
TEST(parallel_for, gives_a_body_of_a_part_subranges) {
  on_runtimes([](runtime& rt) {
    std::deque<int> values(10000, 1);
    rt.run([&] {
      parallel_for(values, [](std::ranges::subrange<std::deque<int>::iterator> part) {
        for (int& each : part) ++each;
      });
    });
    EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0), 20000);
  });
}
#endif

TEST(parallel_for, calls_a_body_that_takes_either_with_one_iteration) {
  struct either {
    std::atomic<int>& single;
    void operator()(int) const { ++single; }
    void operator()(int, int) const { FAIL(); }
  };
  std::atomic<int> single{0};
  parallel_for(0, 10, either{single});
  std::vector<std::vector<int>> rows(10);
  parallel_for(rows, [&](auto& row) {
    static_assert(std::is_same_v<decltype(row), std::vector<int>&>);
    ++single;
  });
  EXPECT_EQ(single, 20);
}

TEST(parallel_for, with_a_grain_runs_blocks_of_that_length) {
  on_runtimes([](runtime& rt) {
    std::atomic<int> iterations{0};
    rt.run([&] {
      parallel_for(0, 1003,
                   [&](int first, int last) {
                     EXPECT_EQ(first % 10, 0);
                     EXPECT_TRUE(last - first == 10 || last == 1003);
                     iterations += last - first;
                   },
                   {.grain = 10});
      parallel_for(0, 5, [&](int, int) { ++iterations; }, {.grain = std::numeric_limits<std::size_t>::max()});
      parallel_for(0, 1000, [&](int first, int last) { EXPECT_EQ(last - first, 100) << first; },
                   {.grain = 100});
    });
    EXPECT_EQ(iterations, 1004);
  });
}

TEST(parallel_for, with_a_grain_of_one_has_two_workers_meet_in_a_loop_of_two) {
  runtime rt{{.workers = 2}};
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> inside{0};
    rt.run([&] {
      parallel_for(0, 2,
                   [&](int) {
                     ++inside;
                     while (inside != 2) std::this_thread::yield();
                   },
                   {.grain = 1});
    });
  }
}

// A body whose iterations from 0 on wait for each other, and give up after some time. Iterations below 0 are
// cheap.
struct meeting {
  long patience = 100'000;  // looks
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  void operator()(int i) {
    if (i < 0) return;
    if (++inside == 2) met = true;
    for (long looks = 0; !met && looks < patience; ++looks) std::this_thread::yield();
    --inside;  // an iteration that comes later does not meet this one
  }
};

TEST(parallel_for, has_two_workers_meet_in_iterations_that_wait_for_each_other_after_cheap_ones) {
  runtime rt{{.workers = 2}};
  meeting body;
  rt.run([&] {
    parallel_for(-100000, 0, body);
    parallel_for(0, 100, body);  // the worker sees the cost of the first iteration, and shares the rest
  });
  EXPECT_TRUE(body.met);
}

// Whether both iterations of a loop run at a time after a long loop of the same body. No other test, and no
// other number, has told the pace of this body's type.
template <int Number>
bool meet_after_a_long_loop(runtime& rt) {
  meeting both{.patience = 100'000};
  const auto body = [&](int i) { both(i); };
  rt.run([&] { parallel_for(-100000, 0, body); });
  rt.run([&] { parallel_for(0, 2, body); });
  return both.met;
}

TEST(parallel_for, has_two_workers_meet_in_a_loop_of_two_after_a_long_loop_of_the_same_body) {
  runtime rt{{.workers = 2}};
  // A loop of two is shared if the other worker asks for work when the loop begins. On a busy machine that
  // worker may be off its core then.
  const auto one_of = [&]<int... Numbers>(std::integer_sequence<int, Numbers...>) {
    return (meet_after_a_long_loop<Numbers>(rt) || ...);
  };
  EXPECT_TRUE(one_of(std::make_integer_sequence<int, 10>{}));
}

// Each even iteration waits for the one behind it. If the workers took halves, that one would lie behind it
// on the same worker.
TEST(parallel_for, deals_out_a_few_iterations_that_take_a_millisecond_each) {
  using clock = std::chrono::steady_clock;
  constexpr std::size_t count = 8;
  std::array<std::atomic<bool>, count> begun{};
  std::atomic<bool> measures{true};
  std::atomic<int> met{0};
  const auto body = [&](std::size_t i) {
    if (!measures) begun[i] = true;
    const auto begin = clock::now();
    while (clock::now() - begin < std::chrono::microseconds(1200)) {
    }
    if (measures || i % 2 != 0) return;
    while (!begun[i + 1] && clock::now() - begin < std::chrono::seconds(5)) std::this_thread::yield();
    if (begun[i + 1]) ++met;
  };
  runtime rt{{.workers = 2}};
  rt.run([&] {
    parallel_for(std::size_t{0}, count, body);
    measures = false;
    parallel_for(std::size_t{0}, count, body);
  });
  EXPECT_EQ(met, count / 2);
}

TEST(parallel_for, makes_a_state_for_each_piece_which_two_calls_never_use_at_a_time) {
  struct scratch {
    std::atomic<int>& made;
    bool in_use = false;
    int calls = 0;
    explicit scratch(std::atomic<int>& count) : made(count) { ++made; }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
  };
  on_runtimes([](runtime& rt) {
    std::atomic<int> made{0};
    std::atomic<int> cells{0};
    rt.run([&] {
      parallel_for(0, 200,
                   with_state([&] { return scratch(made); },
                              [&](scratch& mine, int) {
                                ASSERT_FALSE(std::exchange(mine.in_use, true));
                                parallel_for(0, 50, [&](int) { ++cells; },
                                             {.grain = 1});  // may run other pieces
                                ++mine.calls;
                                mine.in_use = false;
                              }),
                   {.grain = 1});
    });
    EXPECT_EQ(cells, 10000);
    EXPECT_GE(made, 1);
    EXPECT_LE(made, 200);
  });
}

TEST(parallel_for, makes_one_state_if_no_worker_shares_the_loop) {
  std::vector<int> values(1000, 1);
  int made = 0;
  long sum = 0;
  const auto make = [&] {
    ++made;
    return 0L;
  };
  runtime rt{{.workers = 1}};
  rt.run([&] {
    join([] {}, [] {});  // the first push shares, so it must not be the loop's
    parallel_for(0, 1000, with_state(make, [&](long& calls, int) { sum = ++calls; }));
    EXPECT_EQ(sum, 1000);
    parallel_for(values, with_state(make, [&](long& calls, int value) { sum = calls += value; }));
    EXPECT_EQ(sum, 1000);
    parallel_for(0, 1000, 2, with_state(make, [&](long& calls, int) { sum = ++calls; }));
    EXPECT_EQ(sum, 500);
    parallel_for(values, with_state(make, [&](long& calls, std::span<int> part) {
                   sum = calls += static_cast<long>(part.size());
                 }));
    EXPECT_EQ(sum, 1000);
  });
  EXPECT_EQ(made, 4);
}

TEST(parallel_for, throws_the_exception_of_making_a_state) {
  on_runtimes([](runtime& rt) {
    EXPECT_THROW(rt.run([] {
      parallel_for(0, 10, with_state([]() -> int { throw std::out_of_range("state"); }, [](int&, int) {}));
    }),
                 std::out_of_range);
  });
}

TEST(parallel_for, makes_no_copy_of_a_body_that_counts_its_calls) {
  struct counter {
    int calls = 0;
    void operator()(int) { ++calls; }
  };
  counter count;
  runtime rt{{.workers = 1}};  // calls by several workers at once would be a race
  rt.run([&] { parallel_for(0, 100000, count); });
  EXPECT_EQ(count.calls, 100000);
}

TEST(parallel_for, random_loops_run_each_iteration_once) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  const auto below = [&](long limit) { return std::uniform_int_distribution<long>(0, limit - 1)(random); };
  on_runtimes([&](runtime& rt) {
    for (int round = 0; round < 20; ++round) {
      const long n = below(1L << below(18));
      const long dear = 1 + below(n + 1);  // one in so many iterations takes longer
      const std::size_t grain = below(2) == 0 ? 0 : static_cast<std::size_t>(1 + below(n + 1));
      const long step = 1 + below(5);
      SCOPED_TRACE(testing::Message() << n << " by " << step << ", grain " << grain);
      std::vector<std::atomic<int>> called(static_cast<std::size_t>(n));
      rt.run([&] {
        parallel_for(0L, n, step,
                     [&](long i) {
                       if (i % dear == 0) fib(15);
                       ++called[static_cast<std::size_t>(i)];
                     },
                     {.grain = grain});
        parallel_for(called, [](auto& each) { ++each; }, {.grain = grain});
      });
      for (long i = 0; i < n; ++i) ASSERT_EQ(called[static_cast<std::size_t>(i)], 1 + (i % step == 0));
    }
  });
}

std::atomic<long> sum_of_functions{0};
void add_to_sum(int i) {
  sum_of_functions += i;
}
int twice(int i) {
  return 2 * i;
}
bool is_nine(int i) {
  return i == 9;
}

TEST(loops, take_functions_as_well_as_closures) {
  sum_of_functions = 0;
  parallel_for(0, 10, add_to_sum);
  parallel_for(0, 10, 2, add_to_sum);
  parallel_for(grid{10}, add_to_sum);
  EXPECT_EQ(sum_of_functions, 45 + 20 + 45);
  EXPECT_EQ(parallel_reduce(0, 10, 0, std::plus<>{}, twice), 90);
  std::vector<int> numbers(20);
  std::iota(numbers.begin(), numbers.end(), 0);
  EXPECT_EQ(parallel_find_if(numbers.begin(), numbers.end(), is_nine) - numbers.begin(), 9);
  parallel_transform(numbers.begin(), numbers.end(), numbers.begin(), twice);
  EXPECT_EQ(numbers.back(), 38);
}

}  // namespace
}  // namespace teff::test
