// A recorded run: the tasks of each worker in a replay, and how the worker runs them and compares what they
// fulfil with the recording.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/keyed_graph.hpp>
#include <teff/detail/graph/keys.hpp>
#include <teff/detail/replay/replay_core.hpp>
#include <teff/detail/scheduler/release_observer.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/error.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
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

// The tasks of one worker in the order in which they began, and the keys that each of them fulfilled.
template <class Key>
struct alignas(128) recorded_list {  // while it is recorded, its worker writes it
  std::vector<Key> tasks;
  std::vector<std::vector<Key>> fulfilled;
};

template <class Key, class Hash>
struct recorded_run {
  std::shared_ptr<keyed_graph<Key, Hash>> graph;
  replay_core core;
  std::vector<recorded_list<Key>> lists;  // as the core's parts

  // Calls step(list, task, i) for each task of each list in each iteration i, when the tasks that it waits
  // for have ended. Throws the first exception of a step. `traced`: the step where a trace is kept. Asked for
  // once a part, so that the other one asks nothing.
  template <class Step, class TracedStep>
  void run(std::uint64_t times, Step step, TracedStep traced) {
    if (times == 0) return;
    graph->expect_runtime("teff::recording::replay");
    expect_own_process(graph->runtime());
    const sole_observer sole(graph->being_observed, "teff::recording::replay");
    const auto run_any = [&](std::size_t part) {
      catch_all(
          [&] {
            if (ring_here() == nullptr) [[likely]] {
              run_part(part, times, step);
            } else {
              const traced_span span(event_kind::run, "replay");
              run_part(part, times, traced);
            }
          },
          [&] { core.fail(std::current_exception()); });
    };
    core.replay(std::cref(run_any));
  }

 private:
  template <class Step>
  void run_part(std::size_t own, std::uint64_t times, Step& step) {
    const within replay;
    run_replay_part(core, own, times,
                    [&, in_order = lists.data()](std::size_t list, std::size_t task, const std::uint64_t i) {
                      step(in_order[list], task, i);
                    });
  }
};

}  // namespace teff::detail
