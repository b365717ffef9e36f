// communicator: sends messages between the ranks of a job. A message is a call of a function on another rank.
#pragma once

#include <teff/detail/message/arguments.hpp>
#include <teff/detail/message/handler.hpp>
#include <teff/detail/message/message_access.hpp>
#include <teff/error.hpp>
#include <teff/runtime.hpp>
#include <teff/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace teff {

// These can be arguments of messages, and parts of each other, as they are:
//
// - numbers, enumerations, bool
// - std::string, std::vector, std::deque, std::list, maps and sets
// - std::array, std::pair, std::tuple, std::optional, std::variant
// - structures of up to six fields of such types, without base classes, arrays in them, and constructors
// - all else that is trivially copyable: by its bytes. It holds no addresses, which mean nothing elsewhere
// - as views of the sender's data, which a handler may read until it returns: std::span<const T> of what
//   travels by its bytes, and std::string_view
//
// Any other type says of which such parts it is made, and how:
//
//   template <>
//   struct teff::message_parts<matrix> {
//     static auto of(const matrix& m) { return std::tuple(m.rows(), std::span<const double>(m.values())); }
//     static matrix made_of(int rows, std::span<const double> values) { return matrix(rows, values); }
//   };
//
// of() returns a tuple; made_of() takes its elements. An exception of made_of() counts as an exception of the
// handler.
template <class T>
struct message_parts;

// Options of a communicator.
struct communicator_options {
  // So many bytes of messages may be on their way to each rank, or wait there, before a sender has to wait.
  // At least 1; otherwise the communicator throws invalid_option.
  std::size_t window = std::size_t{1} << 20;
};

// An argument of communicator::on(): the message's handlers run one at a time, and messages of one rank are
// handled in the order in which it sent them. Both hold for all ordered messages of a communicator together.
struct ordered_t {
  explicit ordered_t() = default;
};
inline constexpr ordered_t ordered{};

// A message that communicator::on() has registered: send() calls its handler on another rank. It can be
// copied, and is of use as long as its communicator lives.
template <class... Arguments>
class message {
 public:
  // Has rank `to` call the handler with these arguments, converted to the types of its parameters; `to` may
  // be this rank. Copies the arguments before it returns. Any thread may call it, also within tasks and
  // handlers.
  //
  // - A message leaves at once if none is on its way to that rank. Otherwise it may be gathered with further
  //   messages, which leave together. A worker that looks for work sends gathered messages.
  // - If the window to that rank is full, send() waits until the rank has handled some messages. A worker
  //   runs other work meanwhile. Within a handler send() never waits (src/message/README.md says why that
  //   can't deadlock).
  // - When the run has failed on some rank, send() does nothing.
  //
  // Throws misuse if there is no such rank, or if the window is full outside of run(). Throws std::bad_alloc,
  // and what copying the arguments throws.
  void send(int to, const Arguments&... arguments) const {
    detail::send_message(*source_, to, number_, detail::outgoing<Arguments...>(arguments...));
  }

  // The number by which errors name the message. A communicator counts its messages from 0, in the order in
  // which they were registered.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

 private:
  friend class communicator;
  message(detail::message_source& source, std::uint32_t number) noexcept
      : source_(&source), number_(number) {}

  detail::message_source* source_;
  std::uint32_t number_;
};

// A large message that communicator::on_large() has registered: send() brings an array of T into the memory
// of another rank, and calls a function there. Arguments go with it, as with any message. The data are copied
// on their way only where that is faster.
template <class T, class... Arguments>
class large_message {
 public:
  // Has rank `to` say where the data are to land, and call its second function when they are there; `to` may
  // be this rank.
  //
  // - send() copies the arguments before it returns, but not the data. These must stay unchanged until
  //   may_reuse() is called, on a worker of this rank, or until run() has ended, even by an exception. So
  //   they should not be local to the function that run() calls.
  // - may_reuse() is called before run() ends, unless run() throws. It may send, as a handler.
  // - Otherwise it is like message::send().
  void send(int to, const Arguments&... arguments, std::span<const T> data,
            std::function<void()> may_reuse = {}) const {
    detail::send_large_message(*source_, to, number_, std::as_bytes(data), std::move(may_reuse),
                               detail::outgoing<Arguments...>(arguments...));
  }

 private:
  friend class communicator;
  large_message(detail::message_source& source, std::uint32_t number) noexcept
      : source_(&source), number_(number) {}

  detail::message_source* source_;
  std::uint32_t number_;
};

// Sends messages between the ranks of a job, runs their handlers, and finds out when nothing is left on any
// rank. Each rank makes one, with the same messages in the same order.
//
//   teff::communicator comm{rt, job.rank(r)};
//   std::vector<double> column(rows);
//   const auto row = comm.on([&](int i, std::span<const double> x) { column[i] = sum(x); });
//   comm.run([&] {
//     for (int i = r; i < rows; i += comm.ranks()) row.send(owner(i), i, data[i]);
//   });  // every message of every rank has been handled
//
// - The parameters of a handler give the types of its message; message_parts says which types can travel.
//   A handler may use the elements of a std::span or std::string_view until it returns.
// - Handlers run on the workers, several at once, in no order, unless the message is `ordered`. They may
//   send, fork, and fulfil keys of task graphs. A handler that takes long delays no other handler while a
//   worker is free.
// - All ranks call run() equally often; the n-th calls belong together. A message is handled by the
//   communicator and within the call that sent it. If it was sent outside of run(), it is handled in the next
//   call.
// - If a function throws on one rank, run() throws on all ranks: that exception there, rank_failed elsewhere.
//   All ranks drop the messages that have not been handled.
// - The runtime and the transport outlive the communicator.
class communicator {
 public:
  communicator(runtime& rt, transport& through, const communicator_options& how = {});
  // Waits until it is destroyed on all ranks. If an exception has brought this rank here while others call
  // run(), their run() throws rank_failed. To be called only while no run() is in progress here.
  ~communicator();
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int ranks() const noexcept;

  // Registers a message, and its handler. The handler's parameters become the message's arguments; they have
  // types of their own, not `auto`. Several workers call the same handler at once. Throws misuse while run()
  // is in progress.
  template <class F>
  [[nodiscard]] auto on(F&& handler) {
    return add(detail::handler_parameters_t<F>{}, false, std::forward<F>(handler));
  }
  template <class F>
  [[nodiscard]] auto on(ordered_t /*how*/, F&& handler) {
    return add(detail::handler_parameters_t<F>{}, true, std::forward<F>(handler));
  }

  // Registers a large message: an array of T of any size. It goes from the sender's memory to memory that the
  // receiver names, with small arguments beside it.
  //
  //   const auto block = comm.on_large(
  //       [&](int i, int j, std::size_t n) -> std::span<double> { return matrix.block(i, j); },
  //       [&](int i, int j, std::span<double> x) { ready(i, j); });
  //   block.send(to, i, j, x, [&] { /* x may be changed */ });
  //
  // land(arguments..., n) returns memory for n elements, which nothing else uses until arrived(arguments...,
  // memory) is called. Both run on workers, as handlers do. If the memory has another size, the run fails
  // with wrong_landing. Throws misuse while run() is in progress.
  template <class Land, class Arrived>
  [[nodiscard]] auto on_large(Land&& land, Arrived&& arrived) {
    using of = detail::large_parameters_of<std::decay_t<Land>, detail::handler_parameters_t<Land>>;
    static_assert(of::fits,
                  "teff: the first function of a large message takes a std::size_t last, and returns a "
                  "std::span<T> of what travels by its bytes");
    return added_large<typename of::element>(std::forward<Land>(land), std::forward<Arrived>(arrived),
                                             typename of::arguments{});
  }

  // Calls f() on a worker, as runtime::run() does, while messages come and go. Returns when f() has returned
  // on every rank, every message has been handled, and no thread holds the communicator.
  //
  // Throws what f or a handler has thrown on this rank, and rank_failed if it was thrown on another one.
  // Throws ranks_differ if the ranks have registered different messages or run different programs. Throws
  // malformed_message if a message was spoilt on its way, incomplete_round if a round lacks values, and
  // misuse if another call is in progress. A handler that waits for the caller's task gets
  // graph_waits_for_itself.
  template <class F>
  void run(F&& f) {
    detail::run_epoch(*source_, [&f] { f(); });
  }

  // While it lives, run() does not end. It is for work that f() or a handler has begun, that goes on after
  // their return, and that is to send more. So f() or a handler calls hold(). Any other thread may
  // call it, too. But the messages of that thread may belong to the next run(), so the thread must not wait
  // for an answer while it holds.
  class held {
   public:
    held(held&& other) noexcept : source_(std::move(other.source_)) {}
    held& operator=(held&&) = delete;
    ~held();

   private:
    friend class communicator;
    explicit held(std::shared_ptr<detail::message_source> source) noexcept;
    std::shared_ptr<detail::message_source> source_;  // null: moved from
  };
  [[nodiscard]] held hold() { return held(source_); }

  // The runtime and the transport, for parts of a program that have messages of their own.
  [[nodiscard]] runtime& workers() const noexcept { return runtime_; }
  [[nodiscard]] transport& network() const noexcept { return transport_; }
  [[nodiscard]] std::size_t window() const noexcept;

  // Counts of the messages that this rank has sent and handled.
  [[nodiscard]] message_counters counters() const;

  // Whether run() is going to throw, because a function has failed here or on another rank. Work that takes
  // long may ask, and end early.
  [[nodiscard]] bool cancelled() const noexcept;

 private:
  friend class detail::replay_ranks;
  friend struct detail::private_access;
  [[nodiscard]] detail::message_source& source() const noexcept { return *source_; }
  // `kind`: its name in texts.
  communicator(runtime& rt, transport& through, const communicator_options& how, const std::string& kind);

  template <class Message>
  Message added(detail::registered_message made) {
    return Message(*source_, detail::register_message(*source_, std::move(made)));
  }
  template <class F, class... Parameters>
  auto add(detail::parameters<Parameters...> of, bool in_order, F&& handler) {
    return added<message<detail::argument<Parameters>...>>(
        detail::make_message(of, in_order, std::decay_t<F>(std::forward<F>(handler))));
  }
  template <class T, class Land, class Arrived, class... Parameters>
  auto added_large(Land&& land, Arrived&& arrived, detail::parameters<Parameters...> of) {
    return added<large_message<T, detail::argument<Parameters>...>>(
        detail::make_large_message<T>(of, std::decay_t<Land>(std::forward<Land>(land)),
                                      std::decay_t<Arrived>(std::forward<Arrived>(arrived))));
  }

  runtime& runtime_;
  transport& transport_;
  std::shared_ptr<detail::message_source> source_;
};

}  // namespace teff
