// broadcast, reduction, barrier: messages over trees in which all ranks of a job take part. No thread waits
// for them: a handler does what is to follow.
#pragma once

#include <teff/detail/message/collective_state.hpp>
#include <teff/message.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace teff {

// A broadcast that on_broadcast() has registered: send() calls the handler on every rank. It can be copied,
// and is of use as long as its communicator lives. Both hold for rank_reduction and barrier, too.
template <class... Arguments>
class broadcast {
 public:
  // Calls the handler on every rank, also on this one. Each rank first passes the message on, to log2(ranks)
  // other ranks at most, and then calls the handler. Any rank may call send() at any time. Otherwise it is
  // like message::send().
  void send(const Arguments&... arguments) const { state_->send(arguments...); }

 private:
  template <class F>
  friend auto on_broadcast(communicator& comm, F&& handler);
  explicit broadcast(std::shared_ptr<detail::broadcast_state<Arguments...>> state) noexcept
      : state_(std::move(state)) {}
  std::shared_ptr<detail::broadcast_state<Arguments...>> state_;
};

// Registers a message to all ranks, and its handler, as communicator::on() does. All ranks register the same
// messages in the same order.
//
//   const auto stop = teff::on_broadcast(comm, [&](int step, double residual) { ... });
//   stop.send(step, residual);  // on one rank; the handler runs on all
template <class F>
[[nodiscard]] auto on_broadcast(communicator& comm, F&& handler) {
  const auto make = [&]<class... Parameters>(detail::parameters<Parameters...>) {
    using state = detail::broadcast_state<detail::argument<Parameters>...>;
    auto made = std::make_shared<state>(state{comm.rank(), comm.ranks()});
    made->by.emplace(comm.on([made, f = std::decay_t<F>(std::forward<F>(handler))](
                                 int root, const detail::argument<Parameters>&... arguments) mutable {
      made->pass_on(root, arguments...);
      std::invoke(f, arguments...);
    }));
    return broadcast<detail::argument<Parameters>...>(std::move(made));
  };
  return make(detail::handler_parameters_t<F>{});
}

// A reduction that on_reduction() has registered.
template <class T>
class rank_reduction {
 public:
  // Gives this rank's value of a round. Each rank gives one; if it gives a second one in the same run(), that
  // run() fails with misuse. Otherwise it is like message::send().
  void give(std::uint64_t round, const T& value) const { state_->give(round, value); }

 private:
  template <class U, class Combine, class F>
    requires detail::makes_reduction<U, Combine, F>
  friend rank_reduction<U> on_reduction(communicator& comm, int root, Combine&& combine, F&& handler);
  explicit rank_reduction(std::shared_ptr<detail::reduction_state<T>> state) noexcept
      : state_(std::move(state)) {}
  std::shared_ptr<detail::reduction_state<T>> state_;
};

// Registers a reduction: when every rank has given its value of a round, handler(round, total) is called on
// rank `root`. The function combine(a, b) is associative and commutative, since values are combined as they
// come.
//
//   const auto sum = teff::on_reduction<double>(comm, 0, std::plus<>{},
//                                               [&](std::uint64_t step, double total) { ... });
//   sum.give(step, mine);  // on every rank, for example by its last task of the step
//
// Rounds may have any numbers, and go on side by side. All ranks give their values of a round within the same
// run(). If a round has values of some ranks only when run() ends, run() throws incomplete_round on all
// ranks. Each exception names the rounds that wait on its rank, and the ranks that they wait for. The values
// of such a round are forgotten, as they are after a run() that has failed. Throws misuse if there is no rank
// `root`.
template <class T, class Combine, class F>
  requires detail::makes_reduction<T, Combine, F>
[[nodiscard]] rank_reduction<T> on_reduction(communicator& comm, int root, Combine&& combine, F&& handler) {
  return rank_reduction<T>(detail::make_reduction<T>(comm, root, std::forward<Combine>(combine),
                                                     std::forward<F>(handler), "teff::rank_reduction"));
}

// A barrier that on_barrier() has registered.
class barrier {
 public:
  // Says that this rank has come to this round; otherwise it is like rank_reduction::give().
  void arrive(std::uint64_t round) const { all_->give(round, 0); }

 private:
  template <class F>
  friend barrier on_barrier(communicator& comm, F&& handler);
  explicit barrier(std::shared_ptr<detail::reduction_state<std::uint8_t>> all) noexcept
      : all_(std::move(all)) {}
  std::shared_ptr<detail::reduction_state<std::uint8_t>> all_;
};

// Registers a barrier: when every rank has called arrive(round), handler(round) is called on every rank.
// Messages that a rank has sent before may still be on their way. If only some ranks have come to a round
// when run() ends, run() throws incomplete_round, as for a reduction.
//
//   const auto next = teff::on_barrier(comm, [&](std::uint64_t step) { g.fulfill(first_of(step + 1)); });
//   next.arrive(step);
template <class F>
[[nodiscard]] barrier on_barrier(communicator& comm, F&& handler) {
  const auto go_on = on_broadcast(comm, [f = std::decay_t<F>(std::forward<F>(handler))](
                                            std::uint64_t round) mutable { std::invoke(f, round); });
  return barrier(detail::make_reduction<std::uint8_t>(
      comm, 0, [](std::uint8_t, std::uint8_t) { return std::uint8_t{0}; },
      [go_on](std::uint64_t round, std::uint8_t) { go_on.send(round); }, "teff::barrier"));
}

}  // namespace teff
