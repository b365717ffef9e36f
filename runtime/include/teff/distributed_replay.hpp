// distributed_replay: a task graph over the ranks of a job that is planned once, and run again and again.
#pragma once

#include <teff/detail/distributed/replay_ranks.hpp>
#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/graph_functions.hpp>
#include <teff/detail/graph/key_text.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/error.hpp>
#include <teff/message.hpp>
#include <teff/task_graph.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace teff {

// An output that a task reads: the task `from` has made it `before` iterations ago. 0: in the same one.
template <class Key>
struct replay_input {
  Key from;
  unsigned before = 0;
};

// The second argument of a body in a distributed_replay.
struct replayed_task {
  // Counted from 0 over all calls of replay().
  std::uint64_t iteration;
  // To be filled in: where the readers look for it, be they on other ranks. Aligned to 128 bytes.
  std::span<std::byte> output;
  // In the order of the task's inputs. Of an iteration before the first one: empty.
  std::span<const std::span<const std::byte>> inputs;

  // The output as values of a type that travels by its bytes.
  template <class T>
  [[nodiscard]] std::span<T> output_as() const noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<T*>(output.data()), output.size() / sizeof(T)};
  }
  // Input i, likewise.
  template <class T>
  [[nodiscard]] std::span<const T> input_as(std::size_t i) const noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<const T*>(inputs[i].data()), inputs[i].size() / sizeof(T)};
  }
};

namespace detail {
// A body can be called with a task's key and its replayed_task, both const. `auto&` will do.
template <class Body, class Key>
concept body_of_replayed_task = std::is_invocable_v<Body&, const Key&, const replayed_task&>;
}  // namespace detail

// The tasks of an iteration over the ranks of a job, and the outputs that they read. The ranks plan them
// once, and then run them as often as asked, at hardly any cost a task.
//
//   teff::distributed_replay<int> steps{comm};        // a task for each column: a step is an iteration
//   steps.rank([&](int column) { return owner(column); });
//   for (int column : columns_of(comm.rank()))
//     steps.add(column, sizeof(double), {{column - 1, 1}, {column, 1}, {column + 1, 1}});
//   steps.replay(1000, [&](int column, const teff::replayed_task& task) {
//     task.output_as<double>()[0] = relax(column, task);   // reads task.input_as<double>(0 to 2)
//   });
//
// - Each rank makes one, in the same order as its communicators, and adds the tasks of the rank. A task has a
//   key, the size of its output, the outputs that it reads, and the worker that runs it.
// - Each worker runs its tasks in the order in which they were added, iteration by iteration. It waits for
//   outputs of other workers or ranks that a task reads, and for the readers of an output that a task would
//   overwrite. It waits for nothing else. A task reads no output that its worker makes later in the same
//   iteration, nor an output that would wait for the task's output.
// - An output lies where its readers find it. If ranks of a node share memory, it lies there, and its readers
//   copy nothing. The rank sends it to all other readers when the task has ended. It keeps as many outputs as
//   the readers need.
// - A step costs no allocation, no hashing and no counting. Nothing else runs on the workers meanwhile.
// - All ranks call plan() and replay() equally often, with the same `times`, and replay several of these in
//   the same order. If it is destroyed on one rank while others use it, say by an exception, these get
//   rank_failed; the destructor waits until it is destroyed on all ranks. Each rank has a runtime. Runtime
//   and transport outlive the replay.
// - `Key` can be the argument of a message.
template <std::copyable Key>
class distributed_replay {
 public:
  explicit distributed_replay(communicator& like)
      : own_(like.workers().workers()),
        keys_(own_.size()),
        ranks_(like),
        answer_(ranks_.messages().on(
            [this](int from, const std::vector<found_task>& found) { note_places(from, found); })),
        ask_(ranks_.messages().on([this](int from, const std::vector<Key>& keys) {
          answer_.send(from, ranks_.messages().rank(), places_of(keys, from));
        })) {
    ranks_.name_tasks([this](const detail::rank_task& task) { return name_of(task); });
  }
  distributed_replay(const distributed_replay&) = delete;
  distributed_replay& operator=(const distributed_replay&) = delete;

  // Sets on which rank a task is, for all tasks whose outputs this rank reads. Without it, all are on rank 0.
  template <class F>
    requires std::is_invocable_r_v<int, F&, const Key&>
  distributed_replay& rank(F&& f) {
    rank_.template set<Key>(std::forward<F>(f));
    return *this;
  }

  // Adds a task of this rank, to the end of the list of a worker. With `anywhere`, that is the worker with
  // the fewest tasks so far, of several the first. Throws misuse if there is such a task already, or no such
  // worker, or if all is planned.
  void add(const Key& key, std::size_t output_bytes, std::vector<replay_input<Key>> inputs,
           unsigned worker = anywhere) {
    if (state_ != state::open)
      detail::throw_error(misuse("teff::distributed_replay::add: called after plan()"));
    if (worker == anywhere) worker = worker_with_fewest_tasks();
    if (worker >= own_.size())
      detail::throw_error(misuse("teff::distributed_replay::add: worker " + std::to_string(worker) +
                                 ", and the workers are 0 to " + std::to_string(own_.size() - 1) +
                                 ": give one of these, or teff::anywhere"));
    auto& list = own_[worker];
    if (!places_.try_emplace(key, place{worker, static_cast<std::uint32_t>(list.size())}).second)
      detail::throw_error(
          misuse("teff::distributed_replay::add: the task " + detail::key_text(key) + " was added before"));
    list.push_back({output_bytes, std::move(inputs)});
    keys_[worker].push_back(key);
  }

  // Has all ranks agree on which task waits for which, and where each writes; replay() does it if the program
  // has not. Throws misuse if a task reads the output of one that was not added, or that its worker runs
  // later, and rank_failed on the other ranks; misuse on all ranks if tasks wait for each other in one
  // iteration. Then this can't be used any more.
  void plan() {
    if (state_ == state::planned) return;
    if (state_ == state::broken)
      detail::throw_error(misuse("teff::distributed_replay: used again after plan() has failed"));
    state_ = state::broken;  // until all is agreed on
    ask_for_places();
    detail::rank_lists lists;
    for (const auto& list : own_) {
      auto& planned = lists.emplace_back();
      for (const own_task& each : list) {
        auto& reads = planned.emplace_back(detail::rank_planned_task{each.bytes, {}}).reads;
        for (const auto& [key, before] : each.inputs) reads.push_back({read_from_.at(key), before});
      }
    }
    ranks_.plan(std::move(lists));
    own_.clear();
    places_.clear();
    state_ = state::planned;
  }

  // Runs the iteration so many times: calls body(key, task) for each task of this rank, on its worker.
  // Returns when all ranks have. 0 times: waits until all ranks are here.
  //
  // Throws the first exception of a body, and rank_failed with its rank and key on all other ranks: no
  // further body is called then, and outputs are forgotten. It can be replayed again, from iteration 0.
  // Throws misuse on a worker that is in the middle of a replay, and on one rank if `times` differ (it names
  // both ranks and numbers; the others get rank_failed); runtime_was_shut_down.
  template <class Body>
    requires detail::body_of_replayed_task<Body, Key>
  void replay(std::uint64_t times, Body&& body) {
    plan();
    detail::traced_body<std::remove_reference_t<Body>&> traced{body};
    const auto run_any = [&](std::size_t part) {
      if (detail::ring_here() == nullptr) [[likely]] {
        run_part(part, times, body);
      } else {
        const detail::traced_span span(detail::event_kind::run, "replay");
        run_part(part, times, traced);
      }
    };
    ranks_.replay(times, detail::replay_core::part_runner(run_any));
  }

 private:
  enum class state : std::uint8_t { open, planned, broken };
  using place = std::array<std::uint32_t, 2>;  // worker, index in its list
  using found_task = std::pair<Key, place>;
  using input_views = std::span<const std::span<const std::byte>>;
  struct own_task {
    std::size_t bytes;
    std::vector<replay_input<Key>> inputs;
  };
  template <class T>
  using by_key = std::unordered_map<Key, T, key_hash<Key>>;

  [[nodiscard]] unsigned worker_with_fewest_tasks() const {
    const auto fewest = std::ranges::min_element(own_, {}, [](const auto& list) { return list.size(); });
    return static_cast<unsigned>(fewest - own_.begin());
  }
  // Of tasks of this rank, which rank `from` reads. Throws misuse.
  std::vector<found_task> places_of(const std::vector<Key>& keys, int from) const {
    std::vector<found_task> found;
    for (const Key& key : keys) {
      const auto where = places_.find(key);
      if (where == places_.end())
        detail::throw_error(misuse("teff::distributed_replay: rank " + std::to_string(from) +
                                   " reads the output of the task " + detail::key_text(key) +
                                   ", which was not added on rank " +
                                   std::to_string(ranks_.messages().rank())));
      found.push_back(*where);
    }
    return found;
  }
  // Several workers may call it at once, for answers of different ranks.
  void note_places(int rank, const std::vector<found_task>& found) {
    for (const auto& [key, where] : found) read_from_.at(key) = {{rank, where[0]}, where[1]};
  }
  [[nodiscard]] int checked_rank(const Key& key) {
    const int where = rank_ ? rank_(std::addressof(key)) : 0;
    if (where < 0 || where >= ranks_.messages().ranks())
      detail::throw_error(misuse("teff::distributed_replay: rank() of the key " + detail::key_text(key) +
                                 " is " + std::to_string(where) + ", and the ranks are 0 to " +
                                 std::to_string(ranks_.messages().ranks() - 1)));
    return where;
  }
  // Which tasks the keys are that this rank's tasks read.
  void ask_for_places() {
    const int self = ranks_.messages().rank();
    std::vector<std::vector<Key>> asked(static_cast<std::size_t>(ranks_.messages().ranks()));
    ranks_.messages().run([&] {
      for (const auto& list : own_) {
        for (const own_task& each : list) {
          for (const auto& [key, before] : each.inputs) {
            if (read_from_.try_emplace(key).second)
              asked[static_cast<std::size_t>(checked_rank(key))].push_back(key);
          }
        }
      }
      for (int to = 0; const auto& keys : asked) {
        if (!keys.empty()) ask_.send(to, self, keys);
        ++to;
      }
    });
  }

  // In words; empty: not known here, of a task of another rank that reads what this one makes.
  [[nodiscard]] std::string name_of(const detail::rank_task& task) const {
    if (task.on.rank == ranks_.messages().rank()) return detail::key_text(keys_[task.on.worker][task.index]);
    for (const auto& [key, from] : read_from_) {
      if (from == task) return detail::key_text(key);
    }
    return {};
  }

  // On the worker of the part.
  template <class Body>
  void run_part(std::size_t index, std::uint64_t times, Body& body) {
    const detail::rank_part& part = ranks_.parts()[index];
    const auto first = ranks_.iterations();
    std::vector<std::span<const std::byte>> some;
    for (std::uint64_t i = first; i < first + times; ++i) {
      const auto* all = part.inputs.data() + (i & ranks_.phase_mask()) * part.inputs_of_phase;
      if (i < ranks_.first_whole()) [[unlikely]] {
        some.assign(all, all + part.inputs_of_phase);
        for (std::size_t k = 0; k < some.size(); ++k)
          if (part.befores[k] > i) some[k] = {};
        all = some.data();
      }
      if (!run_iteration(index, i, all, body)) return;
    }
  }
  // False: the replay has failed.
  template <class Body>
  bool run_iteration(std::size_t index, std::uint64_t i, const std::span<const std::byte>* input,
                     Body& body) {
    const detail::rank_part& part = ranks_.parts()[index];
    const auto& keys = keys_[part.worker];
    const auto* const first_input = input;
    const auto* wait = part.waits.data();
    for (std::size_t n = 0; n < part.steps.size(); ++n) {
      const detail::rank_step& step = part.steps[n];
      for (const auto* const end = part.waits.data() + step.waits_end; wait != end; ++wait) {
        if (!wait->reached(i) && !ranks_.wait_for(*wait, i, index)) return false;
      }
      if (ranks_.failed()) [[unlikely]]
        return false;
      const auto* const end = first_input + step.inputs_end;
      const Key& key = keys[n];
      bool threw = false;
      // const, as the constraint of replay() has it: so a generic body is one of the same types in both.
      const replayed_task task{i, {step.output.at(i), step.bytes}, input_views(input, end)};
      detail::catch_all([&] { std::invoke(body, key, task); },
                        [&] {
                          threw = true;
                          ranks_.fail(std::current_exception(), "task " + detail::key_text(key) + ": ");
                        });
      if (threw) [[unlikely]]
        return false;
      input = end;
      if (step.is_awaited) ranks_.ended(step, i);
    }
    return true;
  }

  state state_ = state::open;
  std::vector<std::vector<own_task>> own_;  // by worker, in their order
  by_key<place> places_;                    // of these
  detail::function_of<int> rank_;
  by_key<detail::rank_task> read_from_;
  std::vector<std::vector<Key>> keys_;  // as own_, and also when all is planned
  detail::replay_ranks ranks_;          // nothing runs any more when the rest goes
  message<int, std::vector<found_task>> answer_;
  message<int, std::vector<Key>> ask_;
};

}  // namespace teff
