// One call at a time records or replays a graph; a replayed body is compared with the recorded run.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/key_text.hpp>
#include <teff/detail/graph/keyed_graph.hpp>
#include <teff/detail/scheduler/release_observer.hpp>
#include <teff/error.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

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

// A body in a replay has to fulfil the keys that it fulfilled in the recorded run,
// in any order. Throws replay_differs.
template <class Key>
class compared_body final : public release_observer<Key> {
 public:
  compared_body(const Key& task, const std::vector<Key>& recorded)
      : task_(task), recorded_(recorded), next_(recorded.begin()) {}

  bool passes_on(const Key& key) override {
    ++count_;
    if (next_ != recorded_.end() && *next_ == key) [[likely]] {
      ++next_;
    } else if (std::ranges::find(recorded_, key) == recorded_.end()) {
      throw_error(replay_differs("teff::recording::replay: the task " + key_text(task_) + " fulfilled " +
                                 key_text(key) + ", but not when it was recorded"));
    }
    return false;
  }
  void end() const {
    if (count_ != recorded_.size()) [[unlikely]]
      throw_error(replay_differs("teff::recording::replay: the task " + key_text(task_) + " fulfilled " +
                                 std::to_string(count_) + " keys, but " + std::to_string(recorded_.size()) +
                                 " when it was recorded"));
  }

 private:
  const Key& task_;
  const std::vector<Key>& recorded_;
  typename std::vector<Key>::const_iterator next_;
  std::size_t count_ = 0;
};

}  // namespace teff::detail
