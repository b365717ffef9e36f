// Tasks that come again and again are taken from a memo. The program has the result that it has in order.
#include <gtest/gtest.h>
#include <teff/flow.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "workers.hpp"

namespace teff::test {
namespace {

using words = std::vector<std::uint64_t>;

// A task that reads, writes or adds to parts of a memory, or several of these.
struct part {
  enum how { reads, writes, adds } mode;
  std::size_t first, count, rows, stride;
};
struct step {
  std::uint64_t number;
  std::vector<part> parts;
  std::size_t sum;  // a word to which a step without parts adds
  bool loop;
};

class programs {
 public:
  explicit programs(std::uint64_t seed) : random_(seed), size_(8 + below(56)) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  std::size_t below(std::size_t limit) { return random_() % limit; }
  step make_step() {
    step made{random_(), {}, below(4), below(8) == 0};
    if (below(4) == 0) return made;
    for (std::size_t i = 1 + below(3); i > 0; --i) made.parts.push_back(make_part());
    return made;
  }
  std::vector<step> make_period() {
    std::vector<step> all;
    for (std::size_t i = 1 + below(below(2) == 0 ? 6 : 90); i > 0; --i) all.push_back(make_step());
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
void run_in_order(const step& what, words& memory, std::size_t size) {
  std::uint64_t digest = what.number;
  const auto each_word = [&](const part& each, auto&& visit) {
    for (std::size_t row = 0; row < each.rows; ++row)
      for (std::size_t i = 0; i < each.count; ++i) visit(memory[each.first + row * each.stride + i]);
  };
  if (what.parts.empty()) memory[size + what.sum] += what.number;
  for (const auto& each : what.parts)
    each_word(each, [&](const std::uint64_t& word) { digest = digest * 0x9e3779b97f4a7c15U + word; });
  for (const auto& each : what.parts)
    if (each.mode == part::writes)
      each_word(each, [&](std::uint64_t& word) { word = word * 31 + (digest += 0x632be59bd9b4e019U); });
}

void make_task(flow& f, const step& what, words& memory, std::size_t size) {
  if (what.parts.empty() && what.loop) {
    f.task_for(0, 3, reduction(memory[size + what.sum]),
               [&what](int i, std::uint64_t& mine) { mine += i == 1 ? what.number : 0; });
  } else if (what.parts.empty()) {
    f.task(reduction(memory[size + what.sum]), [&what](std::uint64_t& mine) { mine += what.number; });
  } else {
    std::vector<access> accesses;
    for (const auto& each : what.parts) {
      const auto at = section(memory, each.first, each.count, each.rows, each.stride);
      accesses.push_back(each.mode == part::reads ? in(at) : inout(at));
    }
    if (what.loop) {
      f.task_for(0, 1, accesses, [&, size](int) { run_in_order(what, memory, size); });
    } else {
      f.task(accesses, [&, size] { run_in_order(what, memory, size); });
    }
  }
}

// Periods that come again, with a task more now and then, another program in between, and waits.
TEST(flow_repetition, programs_end_as_in_order_on_any_number_of_workers) {
  const std::uint64_t seed = fresh_seed();
  std::mt19937_64 random(seed);
  on_runtimes([&](runtime& rt) {
    for (int i = 0; i < 12; ++i) {
      const std::uint64_t own = i == 0 ? seed : random();
      SCOPED_TRACE("TEFF_TEST_SEED=" + std::to_string(own));
      programs all(own);
      const auto size = all.size();
      std::vector<std::vector<step>> periods{all.make_period(), all.make_period()};
      const step extra = all.make_step();
      words expected(size + 4, 1), memory(size + 4, 1);
      flow f{rt};
      for (std::size_t rounds = 0; rounds < 6; ++rounds) {
        const auto& period = periods[all.below(2)];
        const auto waits = all.below(3);
        for (std::size_t tasks = 0; tasks < 1500 + all.below(3000); tasks += period.size()) {
          for (const auto& each : period) {
            run_in_order(each, expected, size);
            make_task(f, each, memory, size);
          }
          if (waits == 1) f.wait(in(memory[all.below(size)]));
          if (waits == 2 && all.below(4) == 0) f.wait();
        }
        run_in_order(extra, expected, size);
        make_task(f, extra, memory, size);
      }
      f.wait();
      ASSERT_EQ(memory, expected);
    }
  });
}

}  // namespace
}  // namespace teff::test
