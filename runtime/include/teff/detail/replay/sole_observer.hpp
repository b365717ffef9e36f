// Only one call at a time records or replays a graph.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/error.hpp>

#include <atomic>

namespace teff::detail {

// While it lives, no other call records or replays the graph. Throws misuse if one does already.
class sole_observer {
 public:
  explicit sole_observer(std::atomic<bool>& being_observed) : being_observed_(being_observed) {
    // Acquire, release: what the one before left.
    if (being_observed.exchange(true, std::memory_order_acquire))
      throw_error(misuse("teff::recording: the graph is recorded or replayed just now"));
  }
  ~sole_observer() { being_observed_.store(false, std::memory_order_release); }
  sole_observer(const sole_observer&) = delete;
  sole_observer& operator=(const sole_observer&) = delete;

 private:
  std::atomic<bool>& being_observed_;
};

}  // namespace teff::detail
