// Random programs of a flow. Each has the result of the same program in which every task runs where it is
// made.
#include <gtest/gtest.h>
#include <teff/flow.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

using words = std::vector<std::uint64_t>;

struct touched {
  enum how { reads, writes, updates, adds } mode;
  std::size_t first;
  std::size_t count;
  std::size_t rows = 1;
  std::size_t stride = 0;
};
struct step {
  std::vector<touched> accesses;
  std::vector<step> inner;
  std::uint64_t number = 0;
  bool weak = false;
  bool loop = false;  // an iteration updates a word of the first access; it reads the second, if there is one
};

class random_program {
 public:
  random_program(std::uint64_t seed, std::size_t size, bool nested = true)
      : random_(seed), size_(size), stride_(below(2) * (2 + below(7))), nested_(nested) {}

  std::vector<step> make(std::size_t tasks) {
    std::vector<step> all;
    for (std::size_t i = 0; i < tasks; ++i) all.push_back(make_step());
    return all;
  }

 private:
  static bool overlap(const touched& a, const touched& b) {
    return a.first < b.first + b.count && b.first < a.first + a.count;
  }
  std::size_t below(std::size_t limit) { return random_() % limit; }
  step make_step() {
    step made;
    made.number = random_();
    if (below(6) == 0 && nested_) return make_nested(std::move(made));
    if (below(6) == 0) {
      // A task that updates may add besides, elsewhere. Such tasks have no other access.
      made.accesses.push_back(make_access(0, size_));
      made.accesses.back().rows = 1;
      made.accesses.back().mode = below(2) == 0 ? touched::adds : touched::updates;
      if (made.accesses.back().mode == touched::updates && below(2) == 0) {
        auto besides = make_access(0, size_);
        besides.rows = 1;
        besides.mode = touched::adds;
        if (!overlap(made.accesses.back(), besides)) made.accesses.push_back(besides);
      }
      return made;
    }
    if (below(5) == 0) return make_loop(std::move(made), 0, size_);
    for (std::size_t i = 1 + below(3); i > 0; --i) made.accesses.push_back(make_access(0, size_));
    return made;
  }
  step make_loop(step made, std::size_t begin, std::size_t size) {
    made.loop = true;
    for (const auto how : {touched::writes, touched::reads}) {
      made.accesses.push_back(make_access(begin, size));
      made.accesses.back().rows = 1;
      made.accesses.back().mode = how;
    }
    if (overlap(made.accesses.front(), made.accesses.back())) made.accesses.pop_back();
    return made;
  }
  // Inner tasks touch parts of the only access.
  step make_nested(step made) {
    touched outer = make_access(0, size_);
    outer.rows = 1;
    outer.mode = touched::writes;
    made.weak = below(2) == 0;
    for (std::size_t i = below(6); i > 0; --i) {
      step inner;
      inner.number = random_();
      if (below(4) == 0) {
        made.inner.push_back(make_loop(std::move(inner), outer.first, outer.count));
        continue;
      }
      for (std::size_t j = 1 + below(2); j > 0; --j) {
        inner.accesses.push_back(make_access(outer.first, outer.count));
      }
      made.inner.push_back(std::move(inner));
    }
    made.accesses.push_back(outer);
    return made;
  }
  touched make_access(std::size_t begin, std::size_t size) {
    touched made{below(2) == 0 ? touched::reads : touched::writes, 0, 0};
    if (below(3) == 0 && size >= 8) {
      const std::size_t row = 1 + below(std::max<std::size_t>(stride_, 2));
      made.stride = stride_ != 0 ? stride_ : row + below(3);
      made.rows = 1 + below(5);
      made.count = row;
      const std::size_t all = (made.rows - 1) * made.stride + row;
      if (all <= size) {
        made.first = begin + below(size - all + 1);
        return made;
      }
      made.rows = 1;
    }
    // Few different ranges, so many accesses name a known range exactly.
    made.count = 1 + below(size);
    if (below(2) == 0) made.count = (size + 3) / 4;
    made.first = begin + below(size - made.count + 1);
    if (below(2) == 0) made.first = begin + (made.first - begin) / made.count * made.count;
    return made;
  }

  std::mt19937_64 random_;
  std::size_t size_;
  std::size_t stride_;  // the accesses have this one, as in a matrix; 0: each has its own
  bool nested_;
};

// Reads all that the task reads, then writes all that it writes.
void run_body(const step& what, words& memory) {
  std::uint64_t digest = what.number;
  const auto each_word = [&](const touched& each, auto&& visit) {
    for (std::size_t row = 0; row < each.rows; ++row)
      for (std::size_t i = 0; i < each.count; ++i) visit(memory[each.first + row * each.stride + i]);
  };
  for (const auto& each : what.accesses)
    each_word(each, [&](const std::uint64_t& word) { digest = digest * 0x9e3779b97f4a7c15U + word; });
  for (const auto& each : what.accesses)
    if (each.mode == touched::writes)
      each_word(each, [&](std::uint64_t& word) { word = word * 31 + (digest += 0x632be59bd9b4e019U); });
}
void add_to(std::span<std::uint64_t> to, std::uint64_t number) {
  for (auto& word : to) word += number;
}
bool commutes(const step& what) {
  return what.accesses.front().mode >= touched::updates;
}

// Some loops are long enough for several workers.
void run_iteration(const step& what, words& memory, std::size_t i) {
  static volatile int at = 0;
  for (std::uint64_t n = what.number % 2 * 1000; n > 0; --n) static_cast<void>(at);
  auto& word = memory[what.accesses.front().first + i];
  word = word * 31 + what.number * (i + 1);
  if (const auto& read = what.accesses.back(); read.mode == touched::reads)
    word += memory[read.first + i % read.count];
}

void run_in_order(const std::vector<step>& all, words& memory) {
  for (const auto& each : all) {
    if (!each.inner.empty()) {
      run_in_order(each.inner, memory);
    } else if (each.loop) {
      for (std::size_t i = 0; i < each.accesses.front().count; ++i) run_iteration(each, memory, i);
    } else if (commutes(each)) {
      for (const auto& part : each.accesses)
        add_to(std::span(memory).subspan(part.first, part.count), each.number);
    } else if (!each.weak) {
      run_body(each, memory);
    }
  }
}

void make_tasks(flow& f, const std::vector<step>& all, words& memory) {
  for (const auto& each : all) {
    std::vector<access> accesses;
    for (const auto& part : each.accesses) {
      const auto at = section(memory, part.first, part.count, part.rows, part.stride);
      accesses.push_back(part.mode == touched::reads    ? in(at)
                         : part.mode == touched::writes ? inout(at)
                                                        : commutative(at));
      if (each.weak) accesses.back() = weak(accesses.back());
    }
    const auto& first = each.accesses.front();
    const auto range = std::span(memory).subspan(first.first, first.count);
    task_options how;
    if (each.number % 3 != 0) how.place = static_cast<unsigned>(each.number % 16);
    if (!each.inner.empty()) {
      f.task(how, accesses, [&] { make_tasks(f, each.inner, memory); });
    } else if (each.loop && each.number % 3 == 0) {
      accesses.erase(accesses.begin());
      f.task_loop(
          0, first.count, {.tasks = 1 + each.number % 4}, accesses,
          [range](teff::range r) { return inout(section(range, r)); },
          [&](std::size_t i) { run_iteration(each, memory, i); });
    } else if (each.loop) {
      f.task_for(0, first.count, {.chunk = each.number % 4}, accesses, [&](teff::range r) {
        for (const auto i : r) run_iteration(each, memory, static_cast<std::size_t>(i));
      });
    } else if (first.mode == touched::adds) {
      f.task(how, reduction(range), [&](std::span<std::uint64_t> mine) { add_to(mine, each.number); });
    } else if (first.mode == touched::updates && each.accesses.size() == 2) {
      const auto& besides = each.accesses.back();
      f.task(how, commutative(range), reduction(std::span(memory).subspan(besides.first, besides.count)),
             [&each, range](std::span<std::uint64_t> mine) {
               add_to(range, each.number);
               add_to(mine, each.number);
             });
    } else if (first.mode == touched::updates) {
      f.task(how, accesses, [&each, range] { add_to(range, each.number); });
    } else if (each.weak) {
      f.task(how, accesses, [] {});
    } else {
      f.task(how, accesses, [&] { run_body(each, memory); });
    }
  }
}

std::size_t programs() {
  const char* const given = std::getenv("TEFF_TEST_PROGRAMS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : under_sanitizer ? 100 : 400;
}

TEST(flow_random, programs_end_as_in_order_on_any_number_of_workers) {
  const std::uint64_t seed = fresh_seed();
  std::mt19937_64 random(seed);
  on_runtimes([&](runtime& rt) {
    for (std::size_t i = 0; i < programs() / std::size(worker_counts) + 1; ++i) {
      const std::uint64_t own = i == 0 ? seed : random();
      SCOPED_TRACE("TEFF_TEST_SEED=" + std::to_string(own));
      const std::size_t size = 1 + own % 40;
      const auto program = random_program(own, size).make(1 + own / 64 % 60);
      words expected(size, 1);
      run_in_order(program, expected);
      words memory(size, 1);
      const auto run = [&] {
        flow f{rt};
        make_tasks(f, program, memory);
        f.wait();
      };
      if (i % 2 == 0) {
        run();
      } else {
        rt.run(run);
      }
      ASSERT_EQ(memory, expected);
    }
  });
}

TEST(flow_random, a_replay_ends_as_the_program_in_order_so_often) {
  const std::uint64_t seed = fresh_seed();
  std::mt19937_64 random(seed);
  on_runtimes([&](runtime& rt) {
    for (std::size_t i = 0; i < programs() / std::size(worker_counts) / 4 + 1; ++i) {
      const std::uint64_t own = i == 0 ? seed : random();
      SCOPED_TRACE("TEFF_TEST_SEED=" + std::to_string(own));
      const std::size_t size = 1 + own % 40;
      const auto program = random_program(own, size, false).make(1 + own / 64 % 40);
      words expected(size, 1);
      for (int n = 0; n < 31; ++n) run_in_order(program, expected);
      words memory(size, 1);
      flow f{rt};
      auto all = f.record([&] { make_tasks(f, program, memory); });
      all.replay(10);
      all.replay(20);
      ASSERT_EQ(memory, expected);
    }
  });
}

}  // namespace
}  // namespace teff::test
