#include "teff/apps/task_way.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

namespace teff::apps {
namespace {

constexpr int timed_steps = 2;           // of the first type that comes so often
constexpr double grain = 20e3;           // nanoseconds: a task costs about 1 us, a twentieth of it
constexpr std::int64_t most_tasks = 16;  // for each worker

/// The body, which adds the time that it takes.
std::function<void(range)> timed(const std::function<void(range)>& body,
                                 std::atomic<std::int64_t>& nanoseconds) {
  return [body, &nanoseconds](range some) {
    const auto began = std::chrono::steady_clock::now();
    body(some);
    const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - began;
    nanoseconds.fetch_add(taken.count(), std::memory_order_relaxed);  // choose_tasks() waits before it reads
  };
}

}  // namespace

void task_way::run(const step& each) {
  if (workers_ > 0 && each.count > 1) {
    type_of_step& type = types_[each.name];
    if (type.steps < timed_steps) {
      ++type.steps;
      step made = each;
      made.body = timed(each.body, type.nanoseconds);
      return make_tasks(made, parts_);
    }
    choose_tasks();
  }
  const auto known = types_.find(each.name);
  make_tasks(each, known == types_.end() ? parts_ : known->second.tasks);
}

std::map<std::string, std::int64_t> task_way::tasks_by_type() const {
  std::map<std::string, std::int64_t> all;
  for (const auto& [name, type] : types_)
    if (type.tasks > 0) all.emplace(name, type.tasks);
  return all;
}

/// All numbers of tasks are multiples of the number of workers, which was the number of parts. So parts end
/// wherever they ended before, and the system keeps no more pieces of a field than there are parts.
void task_way::choose_tasks() {
  wait();
  for (auto& [name, type] : types_) {
    const auto time_of_step =
        static_cast<double>(type.nanoseconds.load(std::memory_order_relaxed)) / type.steps;
    const std::int64_t for_a_worker = std::llround(time_of_step / (grain * workers_));
    type.tasks = workers_ * std::clamp<std::int64_t>(for_a_worker, 1, most_tasks);
    parts_ = std::max(parts_, type.tasks);
  }
  workers_ = 0;
}

void task_way::make_tasks(const step& each, std::int64_t tasks) {
  const cut parts(each.count, parts_);
  const cut all(parts.parts(), tasks);
  for (std::int64_t i = 0; i < all.parts(); ++i) {
    const range own = all.part(i);
    const range some{parts.part(own.begin).begin, parts.part(own.end - 1).end};
    each.accesses(some, accesses_);
    widen(accesses_, parts_);
    make(each, some, accesses_);
  }
}

}  // namespace teff::apps
