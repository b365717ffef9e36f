// distributed_graph: a task graph over the ranks of a job.
#pragma once

#include <teff/detail/distributed/graph_part.hpp>
#include <teff/detail/graph/keyed_graph.hpp>
#include <teff/detail/graph/traced_body.hpp>
#include <teff/detail/message/arguments.hpp>
#include <teff/detail/message/handler.hpp>
#include <teff/message.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace teff {

// A task graph (task_graph.hpp) whose tasks run on the ranks of a job: rank(key) says where. A key can be
// fulfilled from any rank, and with it goes data of the types `Data`.
//
//   using key = std::array<int, 2>;  // task (step, column)
//   teff::distributed_graph<key, std::span<const double>> g{comm};
//   g.rank([&](key k) { return owner(k[1]); })
//    .indegree([](key k) { return k[0] == 0 ? 0 : 3; })
//    .arrived([&](key k, std::span<const double> x) { keep(k, x); })
//    .body([&](key k) {
//      const auto x = compute(k);
//      if (k[0] + 1 < steps)
//        for (int column : neighbours(k[1])) g.fulfill({k[0] + 1, column}, x);
//    });
//   for (int column : columns_of(comm.rank())) g.fulfill({0, column}, {});
//   g.wait();  // all tasks of all ranks have run
//
// - Each rank makes the graph, with the same functions, and calls wait() equally often. Graphs are made in
//   the same order on all ranks, as communicators are. They never take each other's keys.
// - If it is destroyed on one rank while others still wait(), say by an exception, wait() throws rank_failed
//   on these. The destructor waits until the graph is destroyed on all ranks.
// - `Key` can be the argument of a message; `Data` are what a message's handler may take (message_parts.hpp).
// - For the rest as task_graph: a graph that runs on one rank runs on many.
template <std::copyable Key, class... Data>
class distributed_graph {
 public:
  explicit distributed_graph(communicator& comm)
      : tasks_(std::make_shared<tasks>(comm.workers().internals(), comm.workers().workers())),
        part_(comm.workers(), comm.network()) {
    tasks_->looks_elsewhere = true;
    part_.tie(tasks_);
    number_ = part_.core().add(
        detail::make_message(detail::parameters<const Key&, const Data&...>{}, false,
                             [this](const Key& key, const Data&... data) { receive(key, data...); }));
  }
  distributed_graph(const distributed_graph&) = delete;
  distributed_graph& operator=(const distributed_graph&) = delete;

  // Sets on which rank the task of a key runs. Without it, all run on rank 0.
  template <class F>
    requires std::is_invocable_r_v<int, F&, const Key&>
  distributed_graph& rank(F&& f) {
    rank_.set(std::forward<F>(f));
    return *this;
  }
  // These four as for task_graph, for the tasks of this rank. If a body throws, tasks that have not begun
  // are dropped on all ranks.
  template <class F>
    requires std::is_invocable_r_v<int, F&, const Key&>
  distributed_graph& indegree(F&& f) {
    tasks_->functions.indegree.set(std::forward<F>(f));
    return *this;
  }
  template <class F>
    requires std::is_invocable_v<F&, const Key&>
  distributed_graph& body(F&& f) {
    tasks_->functions.body.set(
        [this, traced = detail::traced_body<std::decay_t<F>>{std::forward<F>(f)}](const Key& key) mutable {
          if (part_.core().cancelled()) return;
          try {
            traced(key);
          } catch (...) {
            part_.core().fail(std::current_exception(), "task " + detail::key_text(key) + ": ");
          }
        });
    return *this;
  }
  template <class F>
    requires std::is_invocable_r_v<unsigned, F&, const Key&>
  distributed_graph& place(F&& f) {
    tasks_->functions.place.set(std::forward<F>(f));
    return *this;
  }
  template <class F>
    requires std::is_invocable_r_v<int, F&, const Key&>
  distributed_graph& priority(F&& f) {
    tasks_->functions.priority.set(std::forward<F>(f));
    return *this;
  }
  // Sets a function that receives each key that is fulfilled, with its data, on the rank of the key, before
  // the fulfilment counts: so the task sees what it has done. It is called on the thread that fulfils the key
  // if that is on the same rank, else on any worker; on several at once. What views show is there until it
  // returns.
  //
  // If it returns false, the fulfilment does not count, and the key needs no task. The function may fulfil
  // keys itself. So one message can tell a rank, with data, that a task has ended which many of its own tasks
  // wait for, as task_graph::arrived() says.
  template <class F>
    requires std::is_invocable_v<F&, const Key&, const Data&...>
  distributed_graph& arrived(F&& f) {
    arrived_.set([each = std::forward<F>(f)](const arrival& came) mutable {
      const auto call = [&](const Key& key, const Data&... data) { return std::invoke(each, key, data...); };
      if constexpr (std::is_void_v<std::invoke_result_t<F&, const Key&, const Data&...>>) {
        std::apply(call, came);
        return true;
      } else {
        return static_cast<bool>(std::apply(call, came));
      }
    });
    return *this;
  }

  // Says that one of the dependences of a key's task is done, from any rank. Any thread may call it. If it
  // has to go to another rank it may wait, as message::send() does; then a worker runs other work. After a
  // failure it does nothing. Throws what the graph's functions throw; misuse if there is no such rank.
  void fulfill(const Key& key, const Data&... data) {
    part_.expect_begun();
    const int to = rank_ ? rank_(key) : 0;
    if (to == part_.core().rank()) return count_here(key, data...);
    if (to < 0 || to >= part_.core().ranks()) [[unlikely]]
      refuse_rank(key, to);
    const arrival all(key, data...);
    part_.messages().send(
        to, number_, detail::bytes_of<Key, Data...>(key, data...),
        [](const void* what, std::byte* at) {
          std::apply(
              [&](const Key& k, const Data&... each) { detail::put_arguments<Key, Data...>(at, k, each...); },
              *static_cast<const arrival*>(what));
        },
        &all);
  }

  // Returns when all tasks of all ranks have run that can. Calls of fulfill() that do not come from tasks
  // must have happened before, on each rank.
  //
  // If a body or another function of the graph throws, throws that on its rank, and rank_failed with its rank
  // and key on all others. If keys are left that wait for fulfilments that nobody will make, throws
  // never_satisfied on all ranks: each names its own, and `count` counts all. Throws graph_waits_for_itself
  // within a task of the graph, ranks_differ. The graph can be used again.
  void wait() {
    if (detail::running_on.graph == tasks_.get())
      throw graph_waits_for_itself("teff::distributed_graph::wait: called within a task of the graph");
    part_.wait();
  }

  // What this rank has sent and handled for the graph.
  [[nodiscard]] message_counters counters() { return part_.messages().counters(); }

 private:
  using tasks = detail::keyed_graph<Key, key_hash<Key>>;
  using arrival = std::tuple<const Key&, const Data&...>;

  void count_here(const Key& key, const Data&... data) {
    if (part_.core().cancelled()) return;
    if (arrived_ && !arrived_(arrival(key, data...))) return;
    tasks_->fulfill(key);
  }
  // From another rank.
  void receive(const Key& key, const Data&... data) {
    try {
      count_here(key, data...);
    } catch (...) {
      part_.core().fail(std::current_exception(), "key " + detail::key_text(key) + ": ");
    }
  }
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_rank(const Key& key, int rank) {
    throw misuse("teff::distributed_graph: rank() of the key " + detail::key_text(key) + " is " +
                 std::to_string(rank) + ", and the ranks are 0 to " +
                 std::to_string(part_.core().ranks() - 1));
  }

  std::shared_ptr<tasks> tasks_;
  detail::function_of<int, Key> rank_;
  detail::function_of<bool, arrival> arrived_;  // whether the key counts
  std::uint32_t number_ = 0;
  detail::graph_part part_;  // the first to go: then nothing runs any more
};

}  // namespace teff
