// distributed_graph: a task graph over the ranks of a job.
#pragma once

#include <teff/detail/distributed/graph_part.hpp>
#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/graph_functions.hpp>
#include <teff/detail/graph/keyed_graph.hpp>
#include <teff/detail/message/arguments.hpp>
#include <teff/detail/message/handler.hpp>
#include <teff/detail/message/message_access.hpp>
#include <teff/message.hpp>
#include <teff/task_graph.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <span>
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
//   for (int column : columns_of(comm.rank())) g.start({0, column});
//   g.wait();  // all tasks of all ranks have run
//
// - Each rank makes the graph, with the same functions, and calls wait() equally often. Graphs are made in
//   the same order on all ranks, as communicators are. They never take each other's keys.
// - If it is destroyed on one rank while others still wait(), say by an exception, wait() throws rank_failed
//   on these. The destructor waits until the graph is destroyed on all ranks.
// - `Key` can be the argument of a message; `Data` are what a message's handler may take (message_parts).
// - For the rest as task_graph: a graph that runs on one rank runs on many. But record() (replay.hpp) takes
//   no distributed_graph: a replay over ranks has fixed memory for each output, and the data of a graph have
//   any size and go to any rank in each run. For steps that repeat, use a distributed_replay
//   (distributed_replay.hpp): the program says how large each output is, and which outputs a task reads.
template <std::copyable Key, class... Data>
class distributed_graph {
 public:
  explicit distributed_graph(communicator& comm)
      : tasks_(std::make_shared<tasks>(detail::private_access::internals(comm.workers()),
                                       comm.workers().workers())),
        part_(comm, tasks_) {
    number_ = part_.add(
        detail::make_message(detail::parameters<const Key&, const Data&...>{}, false,
                             [this](const Key& key, const Data&... data) { receive(key, data...); }));
  }
  distributed_graph(const distributed_graph&) = delete;
  distributed_graph& operator=(const distributed_graph&) = delete;

  // Sets on which rank the task of a key runs. Without it, all run on rank 0.
  template <class F>
    requires std::is_invocable_r_v<int, F&, const Key&>
  distributed_graph& rank(F&& f) {
    rank_.template set<Key>(std::forward<F>(f));
    return *this;
  }
  // These five as for task_graph, for the tasks of this rank. If a body throws, tasks that have not begun
  // are dropped on all ranks.
  template <class F>
    requires std::is_invocable_r_v<int, F&, const Key&>
  distributed_graph& indegree(F&& f) {
    tasks_->functions.indegree.template set<Key>(std::forward<F>(f));
    return *this;
  }
  template <class F>
    requires std::is_invocable_v<F&, const Key&>
  distributed_graph& body(F&& f) {
    tasks_->functions.body.template set<Key>(
        [this, traced = detail::traced_body<std::decay_t<F>>{std::forward<F>(f)}](const Key& key) mutable {
          if (part_.cancelled()) return;
          detail::catch_all(
              [&] { traced(key); },
              [&] { part_.fail(std::current_exception(), "task " + detail::key_text(key) + ": "); });
        });
    return *this;
  }
  template <class F>
    requires std::is_invocable_r_v<unsigned, F&, const Key&>
  distributed_graph& place(F&& f) {
    tasks_->functions.place.template set<Key>(std::forward<F>(f));
    return *this;
  }
  template <class F>
    requires std::is_invocable_r_v<int, F&, const Key&>
  distributed_graph& priority(F&& f) {
    tasks_->functions.priority.template set<Key>(std::forward<F>(f));
    return *this;
  }
  // Says that keys are numbered, as in a task_graph. Each rank has an array for all `count` numbers.
  distributed_graph& dense(std::size_t count)
    requires std::integral<Key>
  {
    tasks_->count_by_number(count);
    return *this;
  }
  template <class F>
    requires std::is_invocable_r_v<std::size_t, F&, const Key&>
  distributed_graph& dense(std::size_t count, F&& number) {
    tasks_->functions.number.template set<Key>(std::forward<F>(number));
    tasks_->count_by_number(count);
    return *this;
  }
  // Sets a function that receives each fulfilled key with its data, on the rank of the key. It runs before
  // the fulfilment counts, so the task sees its effects. The thread that fulfils the key calls it if that
  // thread is on the same rank. Otherwise any worker calls it. Several threads may call it at once. Views of
  // the data are valid until it returns.
  //
  // If it returns false, the fulfilment does not count, and the key needs no task. The function may fulfil
  // keys itself. So one message can tell a rank, with data, that a task has ended for which many of the
  // rank's tasks wait, as task_graph::received() does for a worker.
  template <class F>
    requires detail::says_whether<F, const Key&, const Data&...>
  distributed_graph& arrived(F&& f) {
    arrived_.template set<arrival>(
        [each = std::forward<F>(f)](const arrival& came) mutable -> decltype(auto) {
          return std::apply(each, came);
        });
    return *this;
  }

  // Names a task of this rank that depends on nothing: it is ready, and gets no data: arrived() is not called
  // for it. Throws misuse if the key's indegree is not 0, or if the task runs on another rank. Throws what
  // fulfill() throws, too.
  void start(const Key& key) {
    part_.expect_begun();
    if (const int on = rank_of(key); on != part_.rank()) [[unlikely]]
      refuse_to_start(key, on);
    if (!part_.cancelled()) tasks_->start(key, "teff::distributed_graph::start");
  }

  // Says that one of the dependences of a key's task is done, from any rank. Any thread may call it. If it
  // has to go to another rank it may wait, as message::send() does; then a worker runs other work. After a
  // failure it does nothing. Throws what the graph's functions throw; misuse if there is no such rank.
  void fulfill(const Key& key, const Data&... data) {
    part_.expect_begun();
    const int to = rank_of(key);
    if (to == part_.rank()) return count_here(key, data...);
    detail::send_message(part_.messages(), to, number_, detail::outgoing<Key, Data...>(key, data...));
  }

  // Holds the end of a task of this rank, as task_graph::hold_end() does.
  [[nodiscard]] held_task hold_end() {
    return held_task(tasks_->hold_end_of_body("teff::distributed_graph::hold_end"));
  }

  // Returns when all tasks of all ranks have run that can. Calls of fulfill() that do not come from tasks
  // must have happened before, on each rank.
  //
  // If a body or another function of the graph throws, throws that on its rank, and rank_failed with its rank
  // and key on all others. If keys are left that wait for fulfilments that nobody will make, throws
  // never_satisfied on all ranks: each names its own, and `count` counts all. Throws graph_waits_for_itself
  // if it could never return, ranks_differ. The graph can be used again.
  void wait() { part_.wait(); }

  // Large data that go with a key; on_large() returns it. It can be copied, and is of use as long as its
  // graph lives.
  template <class T, class... Arguments>
  class large_data {
   public:
    // Fulfils a key, as the graph's fulfill() does. It copies the arguments before it returns, but not the
    // data. The program leaves the data unchanged until a worker of this rank has called may_reuse(). It may
    // also change them when wait() has returned or thrown, or when the graph is destroyed. may_reuse() may
    // fulfil keys. If wait() throws, no worker may have called may_reuse().
    //
    // A key of this rank: all of that has happened when this returns, and nothing is copied if the data are
    // where they are to land.
    void fulfill(const Key& key, const Arguments&... arguments, std::span<const T> data,
                 std::function<void()> may_reuse = {}) const {
      auto& part = graph_->part_;
      part.expect_begun();
      const int to = graph_->rank_of(key);
      if (to == part.rank()) return fulfill_here(key, arguments..., data, may_reuse);
      detail::send_large_message(part.messages(), to, number_, std::as_bytes(data), std::move(may_reuse),
                                 detail::outgoing<Key, Arguments...>(key, arguments...));
    }

   private:
    friend class distributed_graph;
    struct functions {
      std::function<std::span<T>(const Key&, const Arguments&..., std::size_t)> land;
      std::function<bool(const Key&, const Arguments&..., std::span<T>)> arrived;  // whether the key counts
    };
    large_data(distributed_graph& graph, std::shared_ptr<const functions> of, std::uint32_t number) noexcept
        : graph_(&graph), functions_(std::move(of)), number_(number) {}

    void fulfill_here(const Key& key, const Arguments&... arguments, std::span<const T> data,
                      const std::function<void()>& may_reuse) const {
      if (graph_->part_.cancelled()) return;
      const auto to = functions_->land(key, arguments..., data.size());
      if (to.size() != data.size()) detail::refuse_landing(data.size(), to.size());
      if (!data.empty() && to.data() != data.data()) std::memmove(to.data(), data.data(), data.size_bytes());
      if (functions_->arrived(key, arguments..., to)) graph_->tasks_->fulfill(key);
      if (may_reuse) may_reuse();
    }

    distributed_graph* graph_;
    std::shared_ptr<const functions> functions_;
    std::uint32_t number_;
  };

  // Registers large data: an array of T, of any size, beside small arguments. It goes from the memory of the
  // rank that fulfils a key to the place that the key's rank names, without a copy between.
  //
  //   const auto panel = g.on_large(
  //       [&](key k, int part, std::size_t n) -> std::span<double> { return place(k, part); },
  //       [&](key k, int part, std::span<double> x) { count(x); });
  //   panel.fulfill({step, column}, part, x, [&] { /* x may be changed */ });
  //
  // land(key, arguments..., n) returns memory for n elements, which is nobody else's until the task of the
  // key runs, or whatever else arrived(key, arguments..., memory) leads to. arrived(key, arguments...,
  // memory) is called when the data are there, before the fulfilment counts. If it returns false, the
  // fulfilment does not count. arrived() of the graph is not called for them. Both run on any worker of the
  // key's rank, on several at once; on the thread that fulfils the key if that is on the same rank. If the
  // memory has another size, the graph fails with wrong_landing.
  //
  // Each rank registers the same, in the same order, before keys are fulfilled there, or after wait(). Throws
  // misuse in between.
  template <class Land, class Arrived>
  [[nodiscard]] auto on_large(Land&& land, Arrived&& arrived) {
    using of = detail::large_parameters_of<std::decay_t<Land>, detail::handler_parameters_t<Land>>;
    static_assert(of::fits,
                  "teff: the function that says where large data are to land takes a key first and a "
                  "std::size_t last, and returns a std::span<T> of what travels by its bytes");
    return added_large<typename of::element>(std::forward<Land>(land), std::forward<Arrived>(arrived),
                                             typename of::arguments{});
  }
  // Registers large data where nothing is to be done when they are there.
  template <class Land>
  [[nodiscard]] auto on_large(Land&& land) {
    return on_large(std::forward<Land>(land), [](const Key&, const auto&...) {});
  }

  // Counts of the messages that this rank has sent and handled for the graph.
  [[nodiscard]] message_counters counters() { return part_.counters(); }

 private:
  using tasks = detail::keyed_graph<Key, key_hash<Key>>;
  using arrival = std::tuple<const Key&, const Data&...>;

  template <class T, class Land, class Arrived, class First, class... Rest>
  auto added_large(Land&& land, Arrived&& arrived, detail::parameters<First, Rest...> /*of*/) {
    static_assert(std::is_same_v<detail::argument<First>, Key>,
                  "teff: the function that says where large data are to land takes the graph's key first");
    return added_large<T, detail::argument<Rest>...>(std::forward<Land>(land),
                                                     std::forward<Arrived>(arrived));
  }
  template <class T, class... Arguments, class Land, class Arrived>
  large_data<T, Arguments...> added_large(Land&& land, Arrived&& arrived) {
    static_assert(
        std::is_invocable_v<Land&, const Key&, const Arguments&..., std::size_t> &&
            detail::says_whether<Arrived, const Key&, const Arguments&..., std::span<T>>,
        "teff: both functions of large data take a key and arguments, by value or as const&; the "
        "second one then what the first one has returned; that returns whether the key counts, or nothing");
    using functions = typename large_data<T, Arguments...>::functions;
    auto made = std::make_shared<functions>();
    made->land = std::forward<Land>(land);
    made->arrived = [each = std::forward<Arrived>(arrived)](const Key& key, const Arguments&... arguments,
                                                            std::span<T> data) mutable {
      return detail::answer_of<bool>(each, key, arguments..., data);
    };
    const auto number = part_.add(detail::make_large_message<T>(
        detail::parameters<const Key&, const Arguments&...>{},
        [this, made](const Key& key, const Arguments&... arguments, std::size_t size) {
          std::span<T> to;
          fails_with(key, [&] {
            to = made->land(key, arguments..., size);
            if (to.size() != size) detail::refuse_landing(size, to.size());
          });
          return to;
        },
        detail::as_part_of<std::decay_t<Arrived>>(
            [this, made](const Key& key, const Arguments&... arguments, std::span<T> data) {
              fails_with(key, [&] {
                expect_own(key);
                if (made->arrived(key, arguments..., data)) tasks_->fulfill(key);
              });
            })));
    return {*this, std::move(made), number};
  }

  void count_here(const Key& key, const Data&... data) {
    if (part_.cancelled()) return;
    if (const arrival all(key, data...); arrived_ && !arrived_(&all)) return;
    tasks_->fulfill(key);
  }
  // From another rank.
  void receive(const Key& key, const Data&... data) {
    fails_with(key, [&] {
      expect_own(key);
      count_here(key, data...);
    });
  }
  // If that throws, the graph fails on all ranks, which are told the key.
  template <class F>
  void fails_with(const Key& key, F&& what) {
    detail::catch_all(what,
                      [&] { part_.fail(std::current_exception(), "key " + detail::key_text(key) + ": "); });
  }
  [[nodiscard]] int rank_of(const Key& key) {
    const int to = rank_ ? rank_(std::addressof(key)) : 0;
    if (to < 0 || to >= part_.ranks()) [[unlikely]]
      refuse_rank(key, to);
    return to;
  }
  // Another rank has sent the key here.
  void expect_own(const Key& key) {
    if (const int to = rank_of(key); to != part_.rank()) [[unlikely]]
      refuse_to_have(key, to);
  }
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_to_have(const Key& key, int rank) {
    detail::throw_error(ranks_differ("teff::distributed_graph: another rank's rank() of the key " +
                                     detail::key_text(key) + " is " + std::to_string(part_.rank()) +
                                     ", and this rank's is " + std::to_string(rank) +
                                     "; it must be the same on all ranks"));
  }
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_to_start(const Key& key, int on) {
    detail::throw_error(misuse("teff::distributed_graph::start: the task " + detail::key_text(key) +
                               " runs on rank " + std::to_string(on) + ", and this is rank " +
                               std::to_string(part_.rank()) + ": start it there"));
  }
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_rank(const Key& key, int rank) {
    detail::throw_error(misuse("teff::distributed_graph: rank() of the key " + detail::key_text(key) +
                               " is " + std::to_string(rank) + ", and the ranks are 0 to " +
                               std::to_string(part_.ranks() - 1)));
  }

  std::shared_ptr<tasks> tasks_;
  detail::function_of<int> rank_;
  detail::function_of<bool> arrived_;  // whether the key counts
  std::uint32_t number_ = 0;
  detail::graph_part part_;  // the first to go: then nothing runs any more
};

}  // namespace teff
