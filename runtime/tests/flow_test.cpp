// Flows: tasks begin in the order that their accesses ask for.
#include <gtest/gtest.h>
#include <teff/attach.hpp>
#include <teff/flow.hpp>
#include <teff/named.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "flow/flow_memory.hpp"
#include "workers.hpp"

namespace teff::test {
namespace {

TEST(flow, a_chain_on_one_object_runs_in_order) {
  on_runtimes([](runtime& rt) {
    const auto chain = [&] {
      flow f{rt};
      std::vector<int> order;
      int end = 0;
      for (int i = 0; i < 1000; ++i) f.task(inout(end), [&order, i] { order.push_back(i); });
      f.wait();
      std::vector<int> expected(1000);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(order, expected);
    };
    chain();
    rt.run(chain);
  });
}

TEST(flow, readers_run_after_the_writer_before_them_and_before_the_one_after) {
  on_runtimes([](runtime& rt) {
    const auto many = [&] {
      flow f{rt};
      long value = 0;
      std::atomic<int> wrong{0};
      for (int round = 0; round < 50; ++round) {
        f.task(inout(value), [&value, round] { value = round; });
        for (int i = 0; i < 20; ++i) f.task(in(value), [&, round] { wrong += value != round; });
      }
      f.wait();
      EXPECT_EQ(wrong, 0);
    };
    many();
    rt.run(many);
  });
}

TEST(flow, a_task_waits_for_all_that_it_names) {
  runtime rt{{.workers = 4}};
  flow f{rt};
  std::array<int, 8> x{};
  for (auto& each : x) f.task(out(each), [&each] { each = 1; });
  int sum = 0;
  std::vector<access> all;
  for (auto& each : x) all.push_back(in(each));
  f.task(all, out(sum), [&] { sum = std::accumulate(x.begin(), x.end(), 0); });
  f.wait();
  EXPECT_EQ(sum, 8);
}

TEST(flow, more_tasks_than_may_be_outstanding_are_made_in_bounded_memory) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::atomic<long> outstanding{0};
    std::atomic<long> most{0};
    std::array<long, 64> x{};
    constexpr long tasks = under_sanitizer ? 15'000 : 50'000;
    for (long i = 0; i < tasks; ++i) {
      const long now = ++outstanding;
      if (now > most) most = now;
      f.task(inout(x[static_cast<std::size_t>(i) % x.size()]), [&, i] {
        ++x[static_cast<std::size_t>(i) % x.size()];
        --outstanding;
      });
    }
    f.wait();
    EXPECT_EQ(std::accumulate(x.begin(), x.end(), 0L), tasks);
    EXPECT_LE(most, 5000);
  });
}

TEST(flow, tasks_of_many_objects_that_are_named_once_are_forgotten) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  std::vector<int> x(under_sanitizer ? 20'000 : 100'000);
  for (auto& each : x) f.task(inout(each), [&each] { each = 1; });
  for (auto& each : x) f.task(inout(each), [&each] { ++each; });
  f.wait();
  EXPECT_EQ(std::accumulate(x.begin(), x.end(), 0), 2 * std::ssize(x));
}

TEST(flow, tasks_made_in_a_task_end_before_it_does) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::array<int, 10> x{};
    int sum = 0;
    for (int round = 0; round < 20; ++round) {
      f.task(inout(x), [&] {
        for (int twice = 0; twice < 2; ++twice)
          for (auto& each : x) f.task(inout(each), [&each] { ++each; });
      });
      f.task(in(x), inout(sum), [&] { sum += std::accumulate(x.begin(), x.end(), 0); });
    }
    f.wait();
    EXPECT_EQ(sum, 20 * (20 + 400) / 2);
  });
}

TEST(flow, an_exception_drops_what_has_not_begun_and_wait_throws_it) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    int x = 0;
    f.task(inout(x), [] { throw std::runtime_error("first"); });
    for (int i = 0; i < 100; ++i) f.task(inout(x), [&x] { ++x; });
    EXPECT_EQ(text_of<std::runtime_error>([&] { f.wait(); }), "first");
    EXPECT_EQ(x, 0);
    f.task(inout(x), [&x] { ++x; });
    f.wait();
    EXPECT_EQ(x, 1);
  });
}

TEST(flow, a_cancelled_flow_drops_what_has_not_begun_until_wait_has_returned) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  int x = 0;
  f.task(inout(x), [&] { f.cancel(); });
  for (int i = 0; i < 100; ++i) f.task(inout(x), [&x] { ++x; });
  f.wait();
  EXPECT_EQ(x, 0);
  f.task(inout(x), [&x] { ++x; });
  f.wait();
  EXPECT_EQ(x, 1);
}

TEST(flow, a_body_is_destroyed_when_its_task_has_ended) {
  runtime rt{{.workers = 2}};
  const auto kept = std::make_shared<int>(0);
  int x = 0;
  {
    flow f{rt};
    for (int i = 0; i < 10; ++i) f.task(inout(x), [kept] { ++*kept; });
    f.wait();
    EXPECT_EQ(kept.use_count(), 1);
  }
  EXPECT_EQ(*kept, 10);
}

TEST(flow, a_task_with_a_place_runs_there) {
  on_runtimes([](runtime& rt) {
    const auto placed = [&] {
      flow f{rt};
      std::atomic<int> wrong{0};
      std::array<int, 8> x{};
      for (unsigned i = 0; i < 400; ++i)
        f.task(task_options{.place = i % 8}, inout(x[i % 8]), [&, i] {
          ++x[i % 8];
          wrong += worker_index() != i % 8 % rt.workers();
        });
      f.wait();
      EXPECT_EQ(wrong, 0);
      EXPECT_EQ(std::accumulate(x.begin(), x.end(), 0), 400);
    };
    placed();
    rt.run(placed);
  });
}

TEST(flow, of_tasks_that_become_ready_together_the_one_with_the_highest_priority_runs_first) {
  runtime rt{{.workers = 2}};
  std::vector<int> order;
  rt.run([&] {
    flow f{rt};
    int gate = 0;
    f.task(task_options{.priority = 1, .place = 1}, inout(gate), [] {});
    for (int i = 0; i < 10; ++i)
      f.task(task_options{.priority = i, .place = 0}, in(gate), [&order, i] { order.push_back(i); });
    f.task(task_options{.place = 1}, inout(gate), [] {});
    f.wait();
  });
  EXPECT_EQ(order.size(), 10U);
}

TEST(flow, wait_for_an_object_leaves_the_others) {
  on_runtimes([](runtime& rt) {
    const auto check = [&] {
      flow f{rt};
      int a = 0;
      int b = 0;
      for (int i = 1; i <= 100; ++i) {
        f.task(inout(a), [&a] { ++a; });
        f.task(inout(b), [&b] { ++b; });
        f.wait(in(a));
        EXPECT_EQ(a, i);
      }
      f.wait();
      EXPECT_EQ(b, 100);
    };
    check();
    rt.run(check);
  });
}

TEST(flow, an_object_named_twice_in_one_task_counts_once) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::array<int, 4> x{};
    for (int i = 0; i < 100; ++i) {
      f.task(in(x), inout(x[1]), in(x[2]), [&x] { ++x[1]; });
      f.task(in(x), in(x), [] {});
    }
    f.wait();
    EXPECT_EQ(x[1], 100);
  });
}

TEST(flow, a_section_outside_its_range_is_refused) {
  std::vector<double> x(10);
  EXPECT_EQ(
      text_of<misuse>([&] { static_cast<void>(section(x, 5, 6)); }),
      "teff::section: 6 elements from element 5 on are not all in a range of 10: name elements that the "
      "range has");
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  EXPECT_NE(
      text_of<misuse>([&] {
        static_cast<void>(section(x, 4, 3, 3, most / 2));
      }).find("3 rows, " + std::to_string(most / 2) + " elements apart, of 3 elements from element 4 on"),
      std::string::npos);
}

// ---- More kinds of access ----

TEST(flow, a_reduction_has_the_bits_of_the_order_of_making_on_any_number_of_workers) {
  double expected = 1;
  for (int i = 1; i <= 300; ++i) expected += 1.0 / i;
  on_runtimes([&](runtime& rt) {
    flow f{rt};
    double sum = 0;
    f.task(out(sum), [&] { sum = 1; });
    for (int i = 1; i <= 300; ++i) f.task(reduction(sum), [i](double& mine) { mine += 1.0 / i; });
    double seen = 0;
    f.task(in(sum), out(seen), [&] { seen = sum; });
    f.wait();
    EXPECT_EQ(seen, expected);
  });
}

TEST(flow, arrays_are_reduced_and_other_operations_have_their_identity) {
  on_runtimes([&](runtime& rt) {
    flow f{rt};
    std::vector<long> histogram(16);
    long product = 1;
    int largest = 0;
    for (int i = 0; i < 64; ++i)
      f.task(reduction(histogram),
             reduction(
                 largest, [](int a, int b) { return a > b ? a : b; }, -1),
             [i](std::span<long> mine, int& most) {
               mine[static_cast<std::size_t>(i) % 16] += i;
               most = i;
             });
    for (int i = 0; i < 20; ++i)
      f.task(reduction(product, std::multiplies<>()), [](long& mine) { mine *= 2; });
    f.wait();
    EXPECT_EQ(product, 1 << 20);
    EXPECT_EQ(largest, 63);
    for (long i = 0; i < 16; ++i) EXPECT_EQ(histogram[static_cast<std::size_t>(i)], 4 * i + 96);
  });
}

TEST(flow, a_private_copy_starts_as_the_identity_of_its_operation) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  bool all = true;
  bool any = false;
  std::array<bool, 3> seen{};
  unsigned common = ~0U;
  int least = 100;
  const auto lesser = [](int a, int b) { return std::min(a, b); };
  for (int i = 0; i < 8; ++i) {
    f.task(reduction(all, std::logical_and<>()), reduction(any, std::logical_or<>()),
           [i](bool& each, bool& one) { each = each && i >= 0, one = one || i == 5; });
    f.task(reduction(seen, std::bit_or<>()), reduction(common, std::bit_and<unsigned>()),
           [i](std::span<bool> mine, unsigned& bits) { mine[i % 2 == 0 ? 0 : 2] = true, bits &= 8U + 7U; });
    f.task(reduction(least, lesser, 1000), [i](int& mine) { mine = std::min(mine, 7 + i); });
  }
  f.wait();
  EXPECT_TRUE(all);
  EXPECT_TRUE(any);
  EXPECT_EQ(seen, (std::array{true, false, true}));
  EXPECT_EQ(common, 15U);
  EXPECT_EQ(least, 7);
}

// As a pointer that counts, whose operator& is that of another language's interfaces.
struct without_address {
  long value = 0;
  void operator&() const = delete;
  friend without_address operator+(without_address a, without_address b) { return {a.value + b.value}; }
};

TEST(flow, names_objects_whose_type_has_no_address_operator) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  without_address x;
  for (int i = 0; i < 10; ++i) f.task(reduction(x), [i](without_address& mine) { mine.value += i; });
  f.task(inout(x), [&x] { x.value *= 2; });
  f.wait();
  EXPECT_EQ(x.value, 90);
}

TEST(flow, a_task_may_name_any_number_of_rows) {
  runtime rt{{.workers = 1}};
  flow f{rt};
  std::vector<char> x(2);
  constexpr std::size_t rows = std::size_t{1} << 40;
  f.task(inout(section(x, 0, 1, rows, 0)), [&x] { x[0] = 1; });
  f.task(inout(section(x, 0, 0, rows, 0)), [] {});                // they are empty
  const std::span tall(static_cast<const char*>(nullptr), rows);  // nobody reads it
  f.task(in(section(tall, 0, 1, rows / 2, 2)), [] {});
  f.task(in(section(tall, 0, 1, rows / 2, 2)), in(x), [&x] { x[1] = x[0]; });
  f.wait();
  EXPECT_EQ(x[1], 1);
  // As many bytes as 32 bits count as few.
  EXPECT_EQ(detail::flow_pool::kind_for((std::size_t{1} << 32) + 64), detail::flow_pool::from_heap);
}

TEST(flow, destroyed_before_a_wait_throws_what_a_body_threw_says_its_text) {
  runtime rt{{.workers = 2}};
  double x = 0;
  testing::internal::CaptureStderr();
  {
    flow f{rt};
    f.task(out(x), [] { throw std::runtime_error("no convergence in 1000 steps"); });
    f.wait(in(x));
  }
  {
    flow f{rt};
    f.task(out(x), [&f] { f.cancel(); });
    f.wait(in(x));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "teff::flow: destroyed with an error that no wait() has thrown: no convergence in 1000 steps\n");
}

TEST(flow, a_reduction_whose_body_was_dropped_adds_nothing) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  int x = 0;
  long sum = 7;
  f.task(inout(x), [] { throw std::runtime_error("first"); });
  f.task(in(x), reduction(sum), [](long& mine) { mine = 1; });
  f.task_for(0, 100, in(x), reduction(sum), [](int, long& mine) { mine = 1; });
  EXPECT_THROW(f.wait(), std::runtime_error);
  EXPECT_EQ(sum, 7);
}

TEST(flow, what_inner_tasks_add_to_a_private_copy_counts) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    long sum = 0;
    int ends = 0;
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 4; ++i)
        f.task(reduction(sum), reduction(ends), [&](long& mine, int& end) {
          for (int j = 0; j < 10; ++j)
            f.task(reduction(mine), [&](long& m) { f.task(inout(m), [&m] { ++m; }); });
          ++end;
        });
      f.task(inout(sum), [&, round] { EXPECT_EQ(sum, 40 * (round + 1)); });
    }
    f.wait();
    EXPECT_EQ(ends, 80);
  });
}

// Its values say how many there are.
struct counted_value {
  counted_value() { most = std::max(most, ++all); }
  counted_value(const counted_value& other) : bytes(other.bytes) { most = std::max(most, ++all); }
  counted_value& operator=(const counted_value&) = default;
  ~counted_value() { --all; }
  counted_value operator+(const counted_value& other) const {
    counted_value sum(*this);
    sum.bytes[0] += other.bytes[0];
    return sum;
  }
  static inline int all = 0;
  static inline int most = 0;
  std::array<int, 1 << 16> bytes{};
};

TEST(flow, few_private_copies_wait_for_their_turn) {
  runtime rt{{.workers = 1}};
  rt.run([&] {
    flow f{rt};
    std::vector<counted_value> sum(4);
    held_task first;
    f.task(inout(sum), [&first] { first = hold_end(); });
    for (int i = 0; i < 100; ++i)
      f.task(reduction(sum), [](std::span<counted_value> mine) { ++mine[3].bytes[0]; });
    first.release();
    f.wait();
    EXPECT_EQ(sum[3].bytes[0], 100);
  });
  // Each task keeps a value as the identity, besides the four of its copy.
  EXPECT_LT(counted_value::most, 130);
}

TEST(flow, a_reduction_that_its_own_task_reads_is_refused) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  double sum = 0;
  EXPECT_NE(
      text_of<misuse>([&] { f.task(in(sum), reduction(sum), [](double&) {}); }).find("names in a reduction"),
      std::string::npos);
  f.wait();
}

TEST(flow, commutative_tasks_exclude_each_other_and_concurrent_ones_do_not_wait) {
  on_runtimes([&](runtime& rt) {
    flow f{rt};
    long a = 0;
    long b = 0;
    std::atomic<long> c{0};
    for (int i = 0; i < 300; ++i) {
      f.task(commutative(a), commutative(b), [&] { ++a, ++b; });
      f.task(commutative(b), [&] { ++b; });
      f.task(concurrent(c), [&] { ++c; });
    }
    long sum = 0;
    f.task(in(a), in(b), in(c), out(sum), [&] { sum = a + b + c; });
    f.wait();
    EXPECT_EQ(sum, 300 + 600 + 300);
  });
}

TEST(flow, inner_tasks_release_what_a_weak_access_names) {
  on_runtimes([&](runtime& rt) {
    flow f{rt};
    std::array<int, 4> x{};
    std::vector<int> seen;
    for (int round = 1; round <= 20; ++round) {
      f.task(inout(x), [&] {
        for (auto& each : x) ++each;
      });
      f.task(weak(inout(x)), [&] {
        for (auto& each : x) f.task(inout(each), [&each] { each *= 2; });
      });
      f.task(weak(inout(x)), [] {});
      int& into = seen.emplace_back();
      f.task(in(x), out(into), [&x, &into] { into = x[0] + x[3]; });
      f.wait();
    }
    int value = 0;
    for (const int each : seen) {
      value = (value + 1) * 2;
      ASSERT_EQ(each, 2 * value);
    }
  });
}

TEST(flow, a_task_that_takes_turns_begins_after_what_its_end_waits_for) {
  on_runtimes([](runtime& rt) {
    for (int round = 0; round < 30; ++round) {
      flow f{rt};
      long a = 0;
      long b = 0;
      long sum = 0;
      f.task(out(b), [&] { b = 1; });
      f.task(in(b), commutative(a), out(sum), [&] { a += 10, sum = 5; });
      f.task(commutative(a), reduction(sum), [&](long& mine) { a += 100, mine += 7; });
      f.task(commutative(a), weak(inout(sum)), [&] { a += 1000; });
      f.wait();
      EXPECT_EQ(a, 1110);
      EXPECT_EQ(sum, 12);
    }
  });
}

TEST(flow, a_task_with_a_reduction_may_name_other_memory_twice) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::array<double, 10> x{};
    double sum = 0;
    f.task(in(section(x, 0, 5)), inout(section(x, 3, 5)), reduction(sum), [&](double& mine) {
      x[4] = 2;
      mine += 1;
    });
    f.task(in(x), in(x), reduction(sum), [&](double& mine) { mine += x[4]; });
    f.wait();
    EXPECT_EQ(sum, 3);
  });
}

TEST(flow, rows_of_a_section_may_not_lie_outside_by_any_stride) {
  std::array<int, 10> x{};
  EXPECT_THROW(static_cast<void>(section(x, 0, 3, 3, std::size_t{1} << 63)), misuse);
  EXPECT_THROW(static_cast<void>(section(x, 0, 3, 3, 4)), misuse);
  EXPECT_NO_THROW(static_cast<void>(section(x, 1, 3, 3, 3)));
  EXPECT_NO_THROW(static_cast<void>(section(x, 7, 3, 1, std::size_t{1} << 63)));
}

TEST(flow, a_check_finds_what_a_task_writes_and_does_not_name) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  f.check(true);
  int a = 0;
  int b = 0;
  f.task(out(a), [&] { a = 1; });
  f.task(in(a), out(b), [&] { b = a; });
  f.wait();
  EXPECT_EQ(b, 1);
  f.task(out(a), [&] { a = 2; });
  f.task(in(a), inout(b), named<"careless">([&] { a = b = 3; }));
  const auto text = text_of<misuse>([&] { f.wait(); });
  EXPECT_NE(text.find("careless"), std::string::npos);
  EXPECT_NE(text.find("has written memory at"), std::string::npos);
  f.task(out(b), [&] { b = 4; });
  f.task(in(a), [&] { f.task(inout(b), [&] { ++b; }); });
  EXPECT_NE(text_of<misuse>([&] { f.wait(); }).find("which an earlier task names"), std::string::npos);
}

TEST(flow, a_check_allows_inner_tasks_memory_that_belongs_to_their_task_alone) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  f.check(true);
  long sum = 0;
  for (int i = 0; i < 3; ++i)
    f.task(inout(sum), [&] {
      const std::span scratch(new long[10000], 10000);
      f.task(out(scratch), [=] { std::ranges::fill(scratch, 1); });
      f.task(in(scratch), inout(sum),
             [=, &sum] { sum += std::accumulate(scratch.begin(), scratch.end(), 0L); });
      f.task(inout(scratch), [=] { delete[] scratch.data(); });
    });
  f.wait();
  EXPECT_EQ(sum, 30000);
  // Another task's inner tasks do not.
  std::array<long, 2> both{};
  f.task(out(sum), [&] {
    f.task(out(both), [] {});
    f.task(out(both[0]), [&] { f.task(in(both[1]), [] {}); });
  });
  EXPECT_NE(text_of<misuse>([&] { f.wait(); }).find("which an earlier task names"), std::string::npos);
}

TEST(flow, a_check_finds_what_a_task_reads_and_does_not_name) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  f.check(true);
  std::vector<long> all(4096);
  const auto half = std::span(all).first(2048);
  long b = 0;
  const auto text_of_reading = [&](auto make) {
    f.task(out(all), [&] { std::ranges::fill(all, 7); });
    make();
    return text_of<misuse>([&] { f.wait(); });
  };
  const std::string expected = "has read memory at ";
  const auto text =
      text_of_reading([&] { f.task(inout(half), out(b), named<"careless">([&] { b = all[3000]; })); });
  EXPECT_EQ(b, 7);
  EXPECT_NE(text.find("'careless' " + expected), std::string::npos) << text;
  // An inner task may touch less than its task, which goes on afterwards.
  EXPECT_NE(text_of_reading([&] {
              f.task(inout(all), [&] {
                f.task(inout(half), [&] { half[0] = all[3000]; });
                all[3000] = 8;
              });
            }).find(expected),
            std::string::npos);
  EXPECT_NE(text_of_reading([&] {
              f.task(inout(half), [&] {
                f.task(inout(half[0]), [&] { half[0] = 8; });
                half[1] = all[3000];
              });
            }).find(expected),
            std::string::npos);
  EXPECT_EQ(text_of_reading([&] {
              f.task(inout(all), out(b), [&] {
                f.task(in(half), inout(b), [&] { b = half[1000]; });
                all[3000] = b;
              });
              f.task(in(all), inout(b), [&] { b += all[3000]; });
            }),
            "nothing was thrown");
  EXPECT_EQ(b, 14);
}

TEST(flow, a_check_forgets_memory_that_the_program_has_waited_for) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  f.check(true);
  long b = 0;
  for (int i = 0; i < 10; ++i) {
    std::vector<long> gone(1 << 17);
    f.task(out(gone), [&] { std::ranges::fill(gone, i); });
    f.task(in(gone), inout(b), [&] { b += gone.back(); });
    f.wait(in(gone));
  }
  f.wait();
  EXPECT_EQ(b, 45);
}

// The waiting worker runs so many tasks at a time. The task that it awaits may be the last of these.
TEST(flow, a_wait_for_some_memory_leaves_no_other_thread_waiting) {
  runtime rt{{.workers = 2}};
  rt.run([&] {
    for (int tasks = 240; tasks < 270; ++tasks) {
      int x = 0;
      std::atomic<bool> begun{false}, go_on{false};
      flow f{rt};
      f.task([&] {
        begun = true;
        while (!go_on) std::this_thread::yield();
      });
      while (!begun) std::this_thread::yield();  // the other worker runs it
      for (int i = 0; i < tasks; ++i) f.task(inout(x), [&x] { ++x; });
      f.wait(in(x));
      EXPECT_EQ(x, tasks);
      go_on = true;
      std::thread([&f] { f.wait(); }).join();
    }
  });
}

}  // namespace
}  // namespace teff::test
