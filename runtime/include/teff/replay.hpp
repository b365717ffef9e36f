// record and replay: run a task graph once, then run it again as often as you like, at hardly any cost a
// task.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/replay/graph_recorder.hpp>
#include <teff/detail/replay/recorded_run.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/task_graph.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace teff {

// A flag that a replay raises when a task has ended, for other workers that wait for the task. If it lies
// beside the task's result, one cache line carries both from worker to worker. Without it, a replay makes the
// flags, and a small result takes two lines.
//
//   struct alignas(128) cell {
//     double value;
//     teff::result_flag ended;
//   };
//   std::vector<cell> cells[2];                 // steps 0 and 1, each of so many columns
//   auto two_steps = teff::record(g, start, next, [&](key k) { return &cells[k[0]][k[1]].ended; });
//
// The flag belongs to the application, and must live as long as the recording is replayed. Only the workers
// read it. It protects the result no more than the graph's dependences do: a task that overwrites a cell must
// depend on those that read it.
class result_flag {
 public:
  result_flag() = default;
  result_flag(const result_flag&) = delete;
  result_flag& operator=(const result_flag&) = delete;

 private:
  friend struct detail::graph_access;
  detail::replay_flag<> flag_;
};

namespace detail {

struct graph_access {
  template <class Key, class Hash>
  static const std::shared_ptr<keyed_graph<Key, Hash>>& of(const task_graph<Key, Hash>& graph) {
    return graph.graph_;
  }
  static replay_flag<>* of(result_flag* flag) { return flag == nullptr ? nullptr : &flag->flag_; }
};

// No task has a flag of the application: the recording makes the flags.
struct no_result_flag {
  template <class Key>
  result_flag* operator()(const Key&) const {
    return nullptr;
  }
};

}  // namespace detail

// One run of a task graph, kept: which worker ran which tasks in which order, and what each waited for.
//
//   teff::task_graph<key> g{rt};                // (step, column), steps 0 and 1
//   g.indegree([](key k) { return k[0] == 0 ? 0 : 3; })
//    .place(owner)
//    .body([&](key k) {
//      relax(k);                                // reads one of two arrays, writes the other
//      for (int column : neighbours(k[1])) g.fulfill({k[0] + 1, column});
//    });
//   auto two_steps = teff::record(
//       g, [&] { for (int column = 0; column < width; ++column) g.fulfill({0, column}); },
//       [](key k) { return k[0] < 2 ? std::nullopt : std::optional<key>({0, k[1]}); });
//   two_steps.replay(500);                      // a thousand steps more
//
// - The recorded run is a run like any other: its tasks do their work.
// - A replay calls the bodies again: each on the worker that ran it in the recorded run, in that worker's
//   order, when the tasks that it depended on have ended. It counts, hashes and allocates nothing; a worker
//   waits for another where a dependence crosses from one to the other, and nowhere else. So record a good
//   run: with place(), or on a machine that does nothing else.
// - If a worker does not get to its tasks, since another program has its core, a worker that waits for them
//   runs them in its place. They keep their order, and no two of them run at a time. No other worker runs
//   tasks whose places bind (placement::must).
// - A replay repeats the run as often as asked. Without the function `next`, an iteration begins when the one
//   before has ended. With it, iterations overlap as far as the dependences let them: here a column goes on
//   when its neighbours have done the step before.
// - A runtime runs one replay at a time; further ones wait. Its workers do nothing else while they wait for
//   each other. So a body must not wait for work that only one certain worker may do.
// - The runtime outlives the recording; the graph need not.
template <std::copyable Key, class Hash = key_hash<Key>>
class recording {
 public:
  // Runs the iteration `times` times. Any thread may call it, but not the body of a replayed task. A worker
  // runs other tasks while it waits; any other thread takes part as one of the workers that have tasks, if
  // that one's own thread sleeps.
  //
  // The bodies call fulfill() as they did when recorded: each call is compared with the recorded ones, and
  // does nothing else. Throws replay_differs if they fulfil other keys. Throws the first exception of a body:
  // no further body is called then, and the recording can be replayed again. Throws misuse if the graph is
  // being recorded or replayed already, or the recording was moved from; runtime_was_shut_down. Also throws
  // misuse where the call would wait for ever, as in a task for which the replay at work waits.
  void replay(std::uint64_t times = 1) {
    const auto step = [this](const list& own, std::size_t task, std::uint64_t) {
      const Key& key = own.tasks[task];
      detail::compared_body<Key> observer(key, own.fulfilled[task]);
      const detail::within observed(*parts_->graph, static_cast<detail::release_observer<Key>*>(&observer));
      parts_->graph->functions.body(std::addressof(key));
      observer.end();
    };
    expect_parts();
    parts_->run(times, step, step);  // not traced here: the graph's body is
  }

  // Runs the iteration `times` times, but a task calls `body(key, i)` and not the graph's body; i counts the
  // iterations of this replay from 0. The compiler may inline it. It must not fulfil keys of the graph: then
  // it throws not_replayable. A trace shows the name that named() has given to it.
  template <class Body>
    requires std::is_invocable_v<Body&, const Key&, const std::uint64_t&>
  void replay(std::uint64_t times, Body&& body) {
    const auto step_of = [](auto& called) {
      return [&called](const list& own, std::size_t task, const std::uint64_t i) {
        std::invoke(called, own.tasks[task], i);
      };
    };
    detail::traced_body<std::remove_reference_t<Body>&> traced{body};
    expect_parts();
    parts_->run(times, step_of(body), step_of(traced));
  }

  // How many tasks an iteration has; none, of a recording that was moved from.
  [[nodiscard]] std::size_t tasks() const noexcept {
    std::size_t all = 0;
    if (!parts_) return all;
    for (const auto& each : parts_->lists) all += each.tasks.size();
    return all;
  }

 private:
  using list = detail::recorded_list<Key>;

  using recorded = detail::recorded_run<Key, Hash>;

  template <std::copyable K, class H, class Start, class Next, class FlagOf>
  friend recording<K, H> record(task_graph<K, H>&, Start&&, Next, FlagOf);

  explicit recording(std::unique_ptr<recorded> parts) : parts_(std::move(parts)) {}

  void expect_parts() const {
    if (!parts_) [[unlikely]]
      detail::throw_error(misuse(
          "teff::recording::replay: this recording was moved from: replay the one that it was moved to"));
  }

  std::unique_ptr<recorded> parts_;  // null: moved from
};

// Records one run of a graph. Waits until the graph is at rest, calls start(), which fulfils the first keys,
// waits again, and returns what ran between. A worker runs tasks while it waits; any other thread blocks.
//
// `next(key)` returns the task of the next iteration that a key stands for, or nothing if the key belongs to
// this iteration. Keys of the next iteration are noted, and not fulfilled. Without `next`, iterations don't
// overlap. `flag_of(key)` returns the result_flag beside the task's result, or null; tasks of one worker may
// share a flag.
//
// The body of a task must fulfil keys itself; fork-join tasks that it spawns must not.
//
// Throws not_replayable if something else fulfilled a key, if a key ran twice, if a key of the next iteration
// isn't among the keys of this one, or if tasks of two workers share a flag. Throws what start() and the
// graph's wait() throw. Throws misuse if the graph is being recorded or replayed already.
template <std::copyable Key, class Hash, class Start, class Next = detail::no_next_iteration,
          class FlagOf = detail::no_result_flag>
[[nodiscard]] recording<Key, Hash> record(task_graph<Key, Hash>& graph, Start&& start, Next next = {},
                                          FlagOf flag_of = {}) {
  const auto& kept = detail::graph_access::of(graph);
  kept->functions.expect_complete("teff::record");
  kept->expect_runtime("teff::record");
  graph.wait();
  const detail::sole_observer sole(kept->being_observed, "teff::record");
  detail::graph_recorder recorder(*kept, kept->workers(), next);
  std::exception_ptr error;
  const auto keep_first = [&error] {
    if (!error) error = std::current_exception();
  };
  detail::catch_all([&] { recorder.run_start(start); }, keep_first);
  detail::catch_all([&] { graph.wait(); }, keep_first);
  if (error) std::rethrow_exception(std::move(error));
  constexpr bool overlap = !std::is_same_v<Next, detail::no_next_iteration>;
  using recorded = typename recording<Key, Hash>::recorded;
  auto plan = recorder.plan(overlap, [&](const Key& key) { return detail::graph_access::of(flag_of(key)); });
  return recording<Key, Hash>(std::unique_ptr<recorded>(
      new recorded{kept, {kept->runtime(), std::move(plan), kept->places_bind()}, recorder.take_lists()}));
}

}  // namespace teff
