// Random programs of tasks that take turns, and whose ends are held: by another thread, by an event, by inner
// tasks, by a reduction.
#include <gtest/gtest.h>
#include <teff/attach.hpp>
#include <teff/flow.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

constexpr std::size_t words = 3;

struct memory {
  std::array<std::uint64_t, words> sums{};    // each is touched in turns
  std::array<std::uint64_t, words> values{};  // each is touched in order
  bool operator==(const memory&) const = default;
};

struct step {
  enum { reads, writes, adds, writes_within } how;
  enum { with_body, on_other_thread, by_event, held_for_nothing } ends;
  std::size_t value;
  std::vector<std::size_t> sums;
  std::uint64_t number;
};

std::vector<step> random_steps(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<step> all(5 + random() % 30);
  for (auto& each : all) {
    each.how = static_cast<decltype(each.how)>(random() % 4);
    each.ends = static_cast<decltype(each.ends)>(random() % 4);
    each.value = random() % words;
    for (std::size_t i = 0; i < words; ++i)
      if (random() % 2 == 0) each.sums.push_back(i);
    each.number = random();
  }
  return all;
}

void write(const step& what, memory& all) {
  auto& value = all.values[what.value];
  value = value * 31 + what.number;
}

// But for what an inner task does. `value`: to which a reduction adds.
void run(const step& what, memory& all, std::uint64_t& value) {
  if (what.how == step::writes) write(what, all);
  if (what.how == step::adds) value += what.number;
  for (const auto each : what.sums)
    all.sums[each] += what.how == step::reads ? what.number * (value + 1) : what.number;
}

// Calls functions in the order in which it gets them.
class other_thread {
 public:
  other_thread()
      : thread_([this](const std::stop_token& over) {
          while (!over.stop_requested()) {
            for (auto& each : take()) each();
            std::this_thread::yield();
          }
        }) {}
  void call(std::function<void()> what) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(what));
  }

 private:
  std::vector<std::function<void()>> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }
  std::mutex mutex_;
  std::vector<std::function<void()>> calls_;
  std::jthread thread_;
};

template <class Work>
void end_later(const step& what, other_thread& other, Work work) {
  if (what.ends == step::by_event) {
    attach([work, looks = what.number % 20]() mutable {
      if (looks-- > 0) return false;
      work();
      return true;
    });
    return;
  }
  if (what.ends != step::with_body) {
    const bool works = what.ends == step::on_other_thread;
    other.call([work, works, held = std::make_shared<held_task>(hold_end())] {
      if (works) work();
      held->release();
    });
    if (works) return;
  }
  work();
}

void make_task(flow& f, const step& what, memory& all, other_thread& other) {
  auto& value = all.values[what.value];
  std::vector<access> accesses;
  for (const auto each : what.sums) accesses.push_back(commutative(all.sums[each]));
  task_options how;
  how.priority = static_cast<int>(what.number / 16 % 3);
  if (what.number % 3 != 0) how.place = static_cast<unsigned>(what.number % 16);
  if (what.how == step::adds) {
    f.task(how, accesses, reduction(value),
           [&](std::uint64_t& mine) { end_later(what, other, [&] { run(what, all, mine); }); });
    return;
  }
  const auto touched = what.how == step::reads ? in(value) : inout(value);
  accesses.push_back(what.how == step::writes_within ? weak(touched) : touched);
  f.task(how, accesses, [&] {
    if (what.how == step::writes_within) f.task(inout(value), [&] { write(what, all); });
    end_later(what, other, [&] { run(what, all, value); });
  });
}

TEST(flow_turns, end_in_any_order_and_all_of_them_before_the_wait_returns) {
  const std::uint64_t seed = fresh_seed();
  std::mt19937_64 random(seed);
  other_thread other;
  on_runtimes([&](runtime& rt) {
    for (int i = 0; i < (under_sanitizer ? 12 : 200); ++i) {
      const std::uint64_t own = i == 0 ? seed : random();
      SCOPED_TRACE("TEFF_TEST_SEED=" + std::to_string(own));
      const auto program = random_steps(own);
      memory expected;
      for (const auto& each : program) {
        if (each.how == step::writes_within) write(each, expected);
        run(each, expected, expected.values[each.value]);
      }
      memory found;
      {
        flow f{rt};
        for (const auto& each : program) make_task(f, each, found, other);
        f.wait();
        ASSERT_TRUE(found == expected);
      }
    }
  });
}

}  // namespace
}  // namespace teff::test
