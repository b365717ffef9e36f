// A recorded run: the tasks of each worker in a replay, and how the worker runs them.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/keyed_graph.hpp>
#include <teff/detail/replay/compared_body.hpp>
#include <teff/detail/replay/replay_core.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/detail/scheduler/tracing.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

namespace teff::detail {

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
    core.replay(replay_core::part_runner(run_any));
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
