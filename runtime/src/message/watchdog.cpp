#include "message/watchdog.hpp"

#include "platform/watchdog_interval.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <utility>

namespace teff::detail {

namespace {

std::string on_rank(const std::string& whose, int rank) {
  return whose + ", rank " + std::to_string(rank);
}

}  // namespace

watchdog::watchdog(std::function<std::string()> state, std::chrono::seconds if_unset) {
  const auto wait = watchdog_interval(if_unset);
  if (wait.count() == 0) return;
  thread_.start([wait, state = std::move(state), over = over_.get_token()] {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    for (auto passed = wait; !ended.wait_for(lock, over, wait, [] { return false; }); passed += wait) {
      if (over.stop_requested()) return;
      std::fprintf(stderr, "teff: %s (for %lld s)\n", state().c_str(),
                   static_cast<long long>(passed.count()));
    }
  });
}

watchdog::~watchdog() {
  over_.request_stop();
}

bool watchdog::is_on() {
  return watchdog_interval().count() != 0;
}

std::unique_ptr<channel> watchdog::open(transport& through, const std::string& whose) {
  if (through.ranks() == 1) return through.open();
  const watchdog observes(
      [&] { return on_rank(whose, through.rank()) + ": its making waits for " + through.awaited(); },
      where_nothing_runs);
  return through.open();
}

void watchdog::close(std::unique_ptr<channel> open, const std::string& whose, int rank, int ranks) noexcept {
  if (ranks == 1) return;
  try {
    const watchdog observes([&] { return on_rank(whose, rank) + ": its end waits for other ranks"; },
                            where_nothing_runs);
    open.reset();
  } catch (...) {
    // No thread could be made, or the environment has changed: the channel closes unwatched.
  }
}

}  // namespace teff::detail
