// Only one call at a time records or replays a graph.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/error.hpp>

#include <atomic>
#include <string>

namespace teff::detail {

// While it lives, no other call records or replays the graph. Throws misuse if one does already.
class sole_observer {
 public:
  // `call`: the function that records or replays it, in words.
  sole_observer(std::atomic<bool>& being_observed, const char* call) : being_observed_(being_observed) {
    // Acquire, release: all that the observer before did.
    if (being_observed.exchange(true, std::memory_order_acquire))
      throw_error(misuse(std::string(call) +
                         ": another call records or replays the graph just now: call it when that has "
                         "returned, or give each its own graph"));
  }
  ~sole_observer() { being_observed_.store(false, std::memory_order_release); }
  sole_observer(const sole_observer&) = delete;
  sole_observer& operator=(const sole_observer&) = delete;

 private:
  std::atomic<bool>& being_observed_;
};

}  // namespace teff::detail
