// Tasks that come again and again are taken from a memo. The program has the result that it has in order.
#include <gtest/gtest.h>
#include <teff/attach.hpp>
#include <teff/flow.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <new>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "allocations.hpp"
#include "workers.hpp"

namespace teff::test {
namespace {

using words = std::vector<std::uint64_t>;

// A task reads and writes parts of a memory. Or it adds to words while other tasks do so, or to a sum behind
// the memory.
struct part {
  enum how { reads, writes, adds } mode;
  std::size_t first, count, rows, stride;
};
struct step {
  std::uint64_t number;
  std::vector<part> parts;
  std::size_t sum;
  bool loop, holds;
};

class programs {
 public:
  explicit programs(std::uint64_t seed) : random_(seed), size_(8 + below(56)) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  std::size_t below(std::size_t limit) { return random_() % limit; }
  step make_step() {
    step made{random_(), {}, below(4), below(8) == 0, below(16) == 0};
    if (below(4) == 0) return made;
    for (std::size_t i = 1 + below(3); i > 0; --i) made.parts.push_back(make_part());
    if (below(4) != 0) return made;
    made.parts.resize(1);
    made.parts[0].mode = part::adds;
    return made;
  }
  std::vector<step> make_period() {
    std::vector<step> all;
    for (std::size_t i = 1 + below(below(2) == 0 ? 6 : 90); i > 0; --i) {
      all.push_back(make_step());
      for (std::size_t same = below(4) == 0 ? below(6) : 0; same > 0; --same) all.push_back(all.back());
    }
    return all;
  }

 private:
  part make_part() {
    part made{below(2) == 0 ? part::reads : part::writes, 0, 1 + below(size_ / 2), 1, 0};
    if (below(3) == 0) {
      made.count = 1 + below(2);
      made.stride = 4;
      made.rows = 1 + below(size_ / 4 - 1);
    }
    const auto all = made.rows > 1 ? (made.rows - 1) * made.stride + made.count : made.count;
    made.first = below(size_ - all + 1);
    return made;
  }

  std::mt19937_64 random_;
  std::size_t size_;
};

// The sums lie behind the memory.
void run_in_order(const step& what, std::span<std::uint64_t> memory, std::size_t size) {
  std::uint64_t digest = what.number;
  const auto each_word = [&](const part& each, auto&& visit) {
    for (std::size_t row = 0; row < each.rows; ++row)
      for (std::size_t i = 0; i < each.count; ++i) visit(memory[each.first + row * each.stride + i]);
  };
  if (what.parts.empty()) memory[size + what.sum] += what.number;
  if (!what.parts.empty() && what.parts[0].mode == part::adds)
    return each_word(what.parts[0], [&](std::uint64_t& word) {
      std::atomic_ref(word).fetch_add(what.number, std::memory_order_relaxed);
    });
  for (const auto& each : what.parts)
    each_word(each, [&](const std::uint64_t& word) { digest = digest * 0x9e3779b97f4a7c15U + word; });
  for (const auto& each : what.parts)
    if (each.mode == part::writes)
      each_word(each, [&](std::uint64_t& word) { word = word * 31 + (digest += 0x632be59bd9b4e019U); });
}

// Ends that a thread lets go of.
class releaser {
 public:
  ~releaser() {
    ends_ = true;
    thread_.join();
  }
  void push(held_task held) {
    const std::lock_guard lock(mutex_);
    held_.push_back(std::move(held));
  }

 private:
  std::mutex mutex_;
  std::vector<held_task> held_;
  std::atomic<bool> ends_{false};
  std::thread thread_{[this] {
    while (!ends_) {
      std::vector<held_task> some;
      {
        const std::lock_guard lock(mutex_);
        some.swap(held_);
      }
      for (auto& each : some) each.release();
      std::this_thread::yield();
    }
  }};
};

void make_task(flow& f, const step& what, std::span<std::uint64_t> memory, std::size_t size,
               releaser& later) {
  if (what.parts.empty() && what.loop) {
    f.task_for(0, 3, reduction(memory[size + what.sum]),
               [&what](int i, std::uint64_t& mine) { mine += i == 1 ? what.number : 0; });
  } else if (what.parts.empty()) {
    f.task(reduction(memory[size + what.sum]), [&what](std::uint64_t& mine) { mine += what.number; });
  } else {
    std::vector<access> accesses;
    for (const auto& each : what.parts) {
      const auto at = section(memory, each.first, each.count, each.rows, each.stride);
      accesses.push_back(each.mode == part::reads    ? in(at)
                         : each.mode == part::writes ? inout(at)
                                                     : concurrent(at));
    }
    if (what.loop) {
      f.task_for(0, 1, accesses, [&what, memory, size](int) { run_in_order(what, memory, size); });
    } else {
      f.task(accesses, [&what, &later, memory, size] {
        run_in_order(what, memory, size);
        if (what.holds) later.push(hold_end());
      });
    }
  }
}

// Periods that come again, with a task more now and then, another program in between, and waits.
TEST(flow_repetition, programs_end_as_in_order_on_any_number_of_workers) {
  const std::uint64_t seed = fresh_seed();
  std::mt19937_64 random(seed);
  on_runtimes([&](runtime& rt) {
    for (int i = 0; i < (under_sanitizer ? 2 : 6); ++i) {
      const std::uint64_t own = i == 0 ? seed : random();
      SCOPED_TRACE("TEFF_TEST_SEED=" + std::to_string(own));
      programs all(own);
      const auto size = all.size();
      std::vector<std::vector<step>> periods{all.make_period(), all.make_period()};
      const step extra = all.make_step();
      words expected(size + 4, 1), memory(size + 4, 1);
      releaser later;
      flow f{rt};
      for (std::size_t rounds = 0; rounds < (under_sanitizer ? 3 : 6); ++rounds) {
        const auto& period = periods[all.below(2)];
        const auto waits = all.below(3);
        for (std::size_t tasks = 0; tasks < 1500 + all.below(3000); tasks += period.size()) {
          for (const auto& each : period) {
            run_in_order(each, expected, size);
            make_task(f, each, memory, size, later);
          }
          if (waits == 1) f.wait(in(memory[all.below(size)]));
          if (waits == 2 && all.below(4) == 0) f.wait();
        }
        run_in_order(extra, expected, size);
        make_task(f, extra, memory, size, later);
      }
      f.wait();
      ASSERT_EQ(memory, expected);
    }
  });
}

// Sections of many strides cut each other again and again, also when the program makes its tasks a second
// time.
TEST(flow_repetition, programs_with_sections_of_many_strides_end_as_in_order) {
  constexpr std::size_t size = 1000;
  constexpr std::size_t even =
      std::size_t{8} * 9 * 5 * 7 * 11;  // words: where cuts lie depends on the address
  words memory(size + 2 * even);
  const auto first = even - reinterpret_cast<std::uintptr_t>(memory.data()) / sizeof(memory[0]) % even;
  const std::span own(memory.data() + first, size);
  const auto make_section = [](std::mt19937& random) {
    const auto below = [&](std::size_t limit) { return random() % limit; };
    part made{below(2) == 0 ? part::reads : part::writes, below(size), 1, 1, 0};
    made.count = 1 + below(std::min<std::size_t>(size - made.first, 4));
    if (below(2) == 0) {
      made.stride = 2 + below(10);
      made.count = std::min(1 + below(made.stride), size - made.first);
      made.rows = 1 + below((size - made.first - made.count) / made.stride + 1);
    }
    return made;
  };
  const std::uint32_t fresh = static_cast<std::uint32_t>(fresh_seed());
  for (const std::uint32_t seed : {33U, 34U, 35U, fresh}) {
    std::mt19937 random(seed);
    std::vector<step> period(40);
    for (auto& each : period) {
      each.number = random();
      for (std::size_t i = 1 + random() % 4; i > 0; --i) each.parts.push_back(make_section(random));
    }
    words expected(size, 1);
    std::ranges::fill(own, 1);
    runtime rt{{.workers = 1 + seed % 3}};
    releaser later;
    flow f{rt};
    for (int round = 0; round < 12; ++round)
      for (const auto& each : period) {
        run_in_order(each, expected, size);
        make_task(f, each, own, size, later);
      }
    f.wait();
    ASSERT_TRUE(std::ranges::equal(own, expected)) << "seed " << seed;
  }
}

// The end of a task, which the test holds until the flow has run all that it may run before.
class kept_end {
 public:
  void hold() {
    held_ = hold_end();
    holds_ = true;
  }
  [[nodiscard]] bool ended() const { return ended_; }
  void end_last(flow& f) {
    int other = 0;
    f.task(inout(other), [] {});
    f.wait(in(other));
    while (!holds_) std::this_thread::yield();
    ended_ = true;
    held_.release();
    f.wait();
  }

 private:
  held_task held_;
  std::atomic<bool> holds_{false}, ended_{false};
};

// Memory that a period only reads has no writer in the memo.
TEST(flow_repetition, readers_wait_for_the_writer_before_their_period) {
  on_runtimes([](runtime& rt) {
    int x = 0;
    std::atomic<int> early{0};
    kept_end end;
    flow f{rt};
    f.task(out(x), [&] { end.hold(); });
    for (int i = 0; i < 2000; ++i) f.task(in(x), [&] { early += !end.ended(); });
    end.end_last(f);
    EXPECT_EQ(early, 0);
  });
}

TEST(flow_repetition, a_writer_waits_for_the_readers_of_all_rounds_before) {
  on_runtimes([](runtime& rt) {
    int x = 0;
    std::atomic<bool> early{false};
    kept_end end;
    flow f{rt};
    for (int i = 0; i < 2000; ++i)
      f.task(in(x), [&, i] {
        if (i == 1500) end.hold();
      });
    f.task(out(x), [&] { early = !end.ended(); });
    end.end_last(f);
    EXPECT_FALSE(early);
  });
}

// ---- Errors, and the other functions of a flow ----

// So often that the tasks are taken from a memo.
constexpr int often = 4000;

TEST(flow_repetition, a_body_that_throws_fails_the_flow_which_can_be_used_again) {
  on_runtimes([](runtime& rt) {
    std::array<int, 3> x{};
    flow f{rt};
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < often; ++i)
        f.task(inout(x[i % 3]), [i, round] {
          if (i == often - 10 && round != 2) throw std::out_of_range("as asked");
        });
      if (round == 2)
        f.wait();
      else
        EXPECT_THROW(f.wait(), std::out_of_range);
    }
    for (int i = 0; i < often; ++i) f.task(inout(x[i % 3]), [&x, i] { ++x[i % 3]; });
    f.wait();
    EXPECT_EQ(x[0] + x[1] + x[2], often);
  });
}

// Its task ends without a body, so that those that follow begin.
struct throws_when_moved {
  int* at;
  bool throws;
  throws_when_moved(int* to, bool how) : at(to), throws(how) {}
  throws_when_moved(throws_when_moved&& other) : at(other.at), throws(other.throws) {
    if (throws) throw std::range_error("as asked");
  }
  void operator()() const { ++*at; }
  void operator()(int& mine) const { ++mine; }
};

TEST(flow_repetition, a_body_that_cannot_be_moved_leaves_the_tasks_around_it_in_order) {
  on_runtimes([](runtime& rt) {
    int x = 0, sum = 0, thrown = 0;
    flow f{rt};
    for (int i = 0; i < often; ++i) {
      const bool throws = i % 97 == 5;
      try {
        f.task(inout(x), throws_when_moved(&x, throws));
      } catch (const std::range_error&) {
        ++thrown;
      }
      try {
        f.task(reduction(sum), throws_when_moved(nullptr, throws));
      } catch (const std::range_error&) {
        ++thrown;
      }
    }
    f.wait();
    EXPECT_EQ(x + sum, 2 * often - thrown);
    EXPECT_EQ(thrown, 2 * ((often - 6) / 97 + 1));
  });
}

TEST(flow_repetition, inner_tasks_end_before_the_tasks_that_follow) {
  on_runtimes([](runtime& rt) {
    std::array<int, 4> x{};
    flow f{rt};
    for (int i = 0; i < often; ++i) {
      f.task(inout(x), [&] {
        for (int& each : x) f.task(inout(each), [&each] { ++each; });
      });
      f.task(in(x), [&x, i] {
        if (x != std::array{i + 1, i + 1, i + 1, i + 1}) throw std::logic_error("an inner task ran late");
      });
    }
    f.wait();
    EXPECT_EQ(x[3], often);
  });
}

TEST(flow_repetition, a_recording_a_check_and_a_cancelled_flow_come_between) {
  on_runtimes([](runtime& rt) {
    int x = 0, expected = 0;
    flow f{rt};
    const auto repeat = [&](int times) {
      for (int i = 0; i < times; ++i) f.task(inout(x), [&x] { ++x; });
      expected += times;
    };
    repeat(often);
    auto recorded = f.record([&] { repeat(10); });
    recorded.replay(5);
    expected += 50;
    repeat(often);
    f.check(true);
    repeat(10);
    f.check(false);
    repeat(often);
    f.wait();
    EXPECT_EQ(x, expected);
    repeat(often);
    f.cancel();
    repeat(often);
    f.wait();
    EXPECT_LE(x, expected);
    expected = x;
    repeat(often);
    f.wait();
    EXPECT_EQ(x, expected);
  });
}

TEST(flow_repetition, any_allocation_that_fails_is_reported_and_the_flow_can_be_used_again) {
  runtime rt{{.workers = 2}};
  for (std::uint64_t which = 1; which <= 3000; which += 1 + which / (under_thread_sanitizer ? 4 : 16)) {
    SCOPED_TRACE(testing::Message() << "allocation " << which);
    std::array<int, 40> x{};
    std::atomic<int> ran{0};
    flow f{rt};
    const auto repeat = [&](int times) {
      for (int i = 0; i < times; ++i)
        f.task(inout(x[i % 40]), in(x[(i + 1) % 40]),
               [&ran] { ran.fetch_add(1, std::memory_order_relaxed); });
    };
    try {
      repeat(400);
      fail_allocation(which);
      repeat(1200);
      f.task(inout(x), [] {});
      repeat(80);
      f.wait();
      fail_allocation(0);
    } catch (const std::bad_alloc&) {
      fail_allocation(0);
      try {
        f.wait();
      } catch (const std::bad_alloc&) {
      }
    }
    ran = 0;
    repeat(1200);
    f.wait();
    EXPECT_EQ(ran, 1200);
  }
}

// The tasks that came before had none. Worker 1 alone runs the tasks, which any worker might.
TEST(flow_repetition, a_priority_counts_from_the_first_task_that_has_one) {
  runtime rt{{.workers = 2}};
  constexpr int many = 32;
  std::array<int, many + 1> x{};
  int busy = 0;
  std::vector<int> order;
  std::atomic<int> left{0};
  std::atomic<bool> begun{true}, are_made{true};
  flow f{rt};
  const auto repeat = [&](bool orders) {
    f.task({.place = 0U}, inout(busy), [&] {
      begun = true;
      while (left != 0) std::this_thread::yield();
    });
    f.task({.place = 1U}, inout(x[0]), [&] {
      while (!begun || !are_made) std::this_thread::yield();
    });
    for (int i = 1; i <= many; ++i)
      f.task({.priority = orders ? i : 0}, in(x[0]), inout(x[i]), [&order, &left, i, orders] {
        if (!orders) return;
        order.push_back(i);
        --left;
      });
  };
  for (int i = 0; i < 100; ++i) repeat(false);
  f.wait();
  begun = are_made = false;
  left = many;
  repeat(true);
  are_made = true;
  f.wait();
  EXPECT_TRUE(std::ranges::is_sorted(order, std::greater()));
  EXPECT_EQ(order.size(), static_cast<std::size_t>(many));
}

// In the memory of the rounds, which tasks use again.
TEST(flow_repetition, takes_no_memory_a_task) {
  runtime rt{{.workers = 1}};
  std::array<int, 8> x{};
  rt.run([&] {
    flow f{rt};
    const auto repeat = [&](int times) {
      for (int i = 0; i < times; ++i) f.task(inout(x[i % 8]), in(x[(i + 1) % 8]), [] {});
    };
    repeat(often);
    const auto before = allocations();
    repeat(often);
    EXPECT_EQ(allocations(), before);
    f.wait();
  });
}

}  // namespace
}  // namespace teff::test
