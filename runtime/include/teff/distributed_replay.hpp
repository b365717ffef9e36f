// distributed_replay: a task graph over the ranks of a job that is planned once, and run again and again.
#pragma once

#include <teff/detail/distributed/replay_ranks.hpp>
#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/graph_functions.hpp>
#include <teff/detail/graph/keys.hpp>
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
#include <map>
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
        ask_(ranks_.messages().on(
            [this](int from, const std::vector<read_key>& reads) { note_readers(from, reads); })) {
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
    if (!positions_.try_emplace(key, detail::list_position{worker, static_cast<std::uint32_t>(list.size())})
             .second)
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
    detail::rank_lists lists(own_.size());
    ranks_.messages().run([&] { ask(lists); });
    ranks_.plan(lists);
    for (std::size_t worker = 0; worker < lists.size(); ++worker) {
      for (std::size_t index = 0; index < lists[worker].size(); ++index) {
        auto input = own_[worker][index].inputs.begin();
        for (const auto& [from, before] : lists[worker][index].reads)
          read_from_.try_emplace(from, (input++)->from);
      }
    }
    own_.clear();
    positions_.clear();
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
    ranks_.replay(times, std::cref(run_any));
  }

 private:
  enum class state : std::uint8_t { open, planned, broken };
  // A task reads the output of the task with that key: its worker, its index, and how many iterations later.
  using read_key = std::pair<Key, std::array<std::uint32_t, 3>>;
  using input_views = std::span<const std::span<const std::byte>>;
  struct own_task {
    std::size_t bytes;
    std::vector<replay_input<Key>> inputs;
  };
  [[nodiscard]] unsigned worker_with_fewest_tasks() const {
    const auto fewest = std::ranges::min_element(own_, {}, [](const auto& list) { return list.size(); });
    return static_cast<unsigned>(fewest - own_.begin());
  }
  // Tasks of rank `from` read outputs of these tasks of this rank. Throws misuse.
  void note_readers(int from, const std::vector<read_key>& reads) {
    std::vector<detail::rank_reader> readers;
    const int self = ranks_.messages().rank();
    for (const auto& [key, reader] : reads) {
      const auto found = positions_.find(key);
      if (found == positions_.end())
        detail::throw_error(misuse("teff::distributed_replay: rank " + std::to_string(from) +
                                   " reads the output of the task " + detail::key_text(key) +
                                   ", which was not added on rank " + std::to_string(self)));
      const auto& [worker, index] = found->second;
      const auto& [by_worker, by_index, before] = reader;
      if (from == self && worker == by_worker && before == 0 && index >= by_index)
        detail::throw_error(misuse("teff::distributed_replay: " +
                                   ranks_.named({{self, by_worker}, by_index}) + " reads the output of " +
                                   ranks_.named({{self, worker}, index}) + ", which its worker makes later"));
      readers.push_back({worker, index, by_worker, by_index, before});
    }
    ranks_.note_readers(from, std::move(readers));
  }
  [[nodiscard]] int checked_rank(const Key& key) {
    const int where = rank_ ? rank_(std::addressof(key)) : 0;
    if (where < 0 || where >= ranks_.messages().ranks())
      detail::throw_error(misuse("teff::distributed_replay: rank() of the key " + detail::key_text(key) +
                                 " is " + std::to_string(where) + ", and the ranks are 0 to " +
                                 std::to_string(ranks_.messages().ranks() - 1)));
    return where;
  }
  // Tells each rank which of its tasks this rank's tasks read.
  void ask(detail::rank_lists& lists) {
    std::map<int, std::vector<read_key>> reads;  // by rank
    for (std::uint32_t worker = 0; worker < own_.size(); ++worker) {
      for (const own_task& each : own_[worker]) {
        const auto index = static_cast<std::uint32_t>(lists[worker].size());
        auto& planned = lists[worker].emplace_back(detail::rank_planned_task{each.bytes, {}});
        for (const auto& [key, before] : each.inputs) {
          const int rank = checked_rank(key);
          planned.reads.push_back({{{rank, 0}, 0}, before});
          reads[rank].push_back({key, {worker, index, before}});
        }
      }
    }
    for (const auto& [to, some] : reads) ask_.send(to, ranks_.messages().rank(), some);
  }

  // In words; empty: not known here, of a task of another rank that reads what this one makes.
  [[nodiscard]] std::string name_of(const detail::rank_task& task) const {
    if (task.on.rank == ranks_.messages().rank()) return detail::key_text(keys_[task.on.worker][task.index]);
    const auto found = read_from_.find(task);
    return found == read_from_.end() ? std::string() : detail::key_text(found->second);
  }

  // On the worker of the part. Ends early if the replay fails.
  template <class Body>
  void run_part(std::size_t index, std::uint64_t times, Body& body) {
    const detail::rank_part& part = ranks_.parts()[index];
    const auto& keys = keys_[part.worker];
    std::size_t n = 0;
    const auto run_all = [&] {
      const auto first = ranks_.iterations();
      std::vector<std::span<const std::byte>> some;  // inputs of an early iteration
      for (std::uint64_t i = first; i < first + times; ++i) {
        const auto* first_input = part.inputs.data() + (i & part.phase_mask) * part.befores.size();
        if (i < part.most_before) [[unlikely]] {
          some.assign(first_input, first_input + part.befores.size());
          for (std::size_t k = 0; k < some.size(); ++k)
            if (part.befores[k] > i) some[k] = {};
          first_input = some.data();
        }
        const auto* input = first_input;
        const auto* wait = part.waits.data();
        for (n = 0; n < part.steps.size(); ++n) {
          const detail::rank_step& step = part.steps[n];
          for (const auto* const end = part.waits.data() + step.waits_end; wait != end; ++wait) {
            if (!wait->reached(i) && !ranks_.wait_for(*wait, i, index)) return;
          }
          if (ranks_.failed()) [[unlikely]]
            return;
          const auto* const end = first_input + step.inputs_end;
          // const, as the constraint of replay() has it: so a generic body is one of the same types in both.
          const replayed_task task{i, {step.output.at(i), step.bytes}, input_views(input, end)};
          std::invoke(body, keys[n], task);
          input = end;
          if (step.tells != nullptr) ranks_.ended(step, i);
        }
      }
    };
    detail::catch_all(
        run_all, [&] { ranks_.fail(std::current_exception(), "task " + detail::key_text(keys[n]) + ": "); });
  }

  state state_ = state::open;
  std::vector<std::vector<own_task>> own_;                                   // by worker, in their order
  std::unordered_map<Key, detail::list_position, key_hash<Key>> positions_;  // of these
  detail::function_of<int> rank_;
  std::map<detail::rank_task, Key> read_from_;  // when all is planned
  std::vector<std::vector<Key>> keys_;          // as own_, and also when all is planned
  detail::replay_ranks ranks_;                  // nothing runs any more when the rest goes
  message<int, std::vector<read_key>> ask_;
};

}  // namespace teff
