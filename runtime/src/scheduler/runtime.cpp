#include <teff/detail/exceptions.hpp>
#include <teff/runtime.hpp>

#include "platform/sanitizer.hpp"
#include "scheduler/scheduler.hpp"

#include <array>
#include <cstdio>

namespace teff {

const char* version() noexcept {
  static const auto text = [] {
    std::array<char, 16> made{};
    std::snprintf(made.data(), made.size(), "%d.%d.%d", version_number / 10000, version_number / 100 % 100,
                  version_number % 100);
    return made;
  }();
  return text.data();
}

runtime_was_shut_down::runtime_was_shut_down()
    : misuse("teff::runtime: used after its shutdown; its workers have ended") {}

forked_process::forked_process()
    : misuse("teff: a child process of fork() used a runtime of its parent, whose workers it has not") {}

// The child of a fork() leaves the parent's runtimes as they are, because their workers are not there to be
// ended. So does a worker: it would wait for itself. It comes here when its task calls exit(), which destroys
// a static runtime.
runtime::runtime(const runtime_options& given)
    : scheduler_(new detail::scheduler(given), [](detail::scheduler* owned) noexcept {
        if (!owned->is_of_parent() && !detail::works_for(*owned)) delete owned;
      }) {
  detail::warn_of_false_races();
}

runtime::~runtime() = default;

void runtime::shutdown() {
  scheduler_->shut_down();
}

unsigned runtime::workers() const noexcept {
  return static_cast<unsigned>(scheduler_->workers().size());
}

counters runtime::counters() const noexcept {
  return scheduler_->counted();
}

counters runtime::counters(unsigned worker) const {
  if (worker >= workers()) detail::refuse_index("teff::runtime::counters", "worker", worker, workers());
  return scheduler_->workers()[worker]->counted();
}

counters& counters::operator+=(const counters& other) noexcept {
  jobs += other.jobs;
  steals += other.steals;
  failed_steals += other.failed_steals;
  exposures += other.exposures;
  shares += other.shares;
  parks += other.parks;
  wakes += other.wakes;
  searching += other.searching;
  parked += other.parked;
  capacity += other.capacity;
  spawned += other.spawned;
  tasks += other.tasks;
  return *this;
}

}  // namespace teff
