// communicator: messages between the ranks of a job, which are calls of functions there.
#pragma once

#include <teff/detail/message/arguments.hpp>
#include <teff/detail/message/handler.hpp>
#include <teff/detail/message/message_source.hpp>
#include <teff/error.hpp>
#include <teff/message_counters.hpp>
#include <teff/message_parts.hpp>
#include <teff/runtime.hpp>
#include <teff/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace teff {

// How a communicator is set up.
struct communicator_options {
  // How many bytes of messages may be on their way to each rank, or wait there, before who sends more has to
  // wait. At least 1; else the communicator throws invalid_option.
  std::size_t window = std::size_t{1} << 20;
};

// To be passed to communicator::on(): the message's handlers run one at a time, those of one rank in the
// order in which it has sent the messages. So do all ordered messages of a communicator.
struct ordered_t {
  explicit ordered_t() = default;
};
inline constexpr ordered_t ordered{};

// What communicator::on() returns: send() calls the handler on another rank. It can be copied, and is of use
// as long as its communicator lives.
template <class... Arguments>
class message {
 public:
  // Has rank `to` call the handler with these arguments, converted to what it takes; `to` may be this rank.
  // The arguments are copied before send() returns. Any thread may call it, also within tasks and handlers.
  //
  // - A message leaves at once if none is on its way to that rank. Else those that follow are gathered while
  //   it is, and leave together, soon after it has been taken there or when a worker here looks.
  // - If the window to that rank is full, send() waits until the rank has handled some; a worker runs other
  //   work meanwhile. Within a handler it never waits (src/message/README.md says why that can't deadlock).
  // - When the run has failed on some rank, it does nothing.
  //
  // Throws misuse if there is no such rank, or if the window is full outside of run(); what copying the
  // arguments throws; std::bad_alloc.
  void send(int to, const Arguments&... arguments) const {
    const std::tuple<const Arguments&...> all(arguments...);
    source_->send(
        to, number_, detail::bytes_of<Arguments...>(arguments...),
        [](const void* what, std::byte* at) {
          std::apply([&](const Arguments&... each) { detail::put_arguments<Arguments...>(at, each...); },
                     *static_cast<const std::tuple<const Arguments&...>*>(what));
        },
        &all);
  }

  // Counts the messages of a communicator from 0, in the order in which they were registered: errors name it
  // so.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

 private:
  friend class communicator;
  message(detail::message_source& source, std::uint32_t number) noexcept
      : source_(&source), number_(number) {}

  detail::message_source* source_;
  std::uint32_t number_;
};

// What communicator::on_large() returns: send() brings an array of T into the memory of another rank, without
// a copy between unless that is quicker, and calls a function there. Beside it go arguments, as those of a
// message.
template <class T, class... Arguments>
class large_message {
 public:
  // Has rank `to` say where the data are to land, and calls its second function when they are there. `to`
  // may be this rank.
  //
  // - The arguments are copied before send() returns; the data are not. They stay where they are, unchanged,
  //   until may_reuse() is called, on a worker of this rank, or run() has ended, be it by an exception. They
  //   had better not be local to what run() calls.
  // - may_reuse() is called before run() ends; if that throws, maybe not. It may send, as a handler.
  // - For the rest as message::send().
  void send(int to, const Arguments&... arguments, std::span<const T> data,
            std::function<void()> may_reuse = {}) const {
    const std::tuple<const Arguments&...> all(arguments...);
    source_->send_large(
        to, number_, std::as_bytes(data), std::move(may_reuse), detail::bytes_of<Arguments...>(arguments...),
        [](const void* what, std::byte* at) {
          std::apply([&](const Arguments&... each) { detail::put_arguments<Arguments...>(at, each...); },
                     *static_cast<const std::tuple<const Arguments&...>*>(what));
        },
        &all);
  }

 private:
  friend class communicator;
  large_message(detail::message_source& source, std::uint32_t number) noexcept
      : source_(&source), number_(number) {}

  detail::message_source* source_;
  std::uint32_t number_;
};

// Sends messages between the ranks of a job, runs what they ask for, and knows when nothing is left on any
// rank. Each rank makes one, with the same messages in the same order.
//
//   teff::communicator comm{rt, job.rank(r)};
//   std::vector<double> column(rows);
//   const auto row = comm.on([&](int i, std::span<const double> x) { column[i] = sum(x); });
//   comm.run([&] {
//     for (int i = r; i < rows; i += comm.ranks()) row.send(owner(i), i, data[i]);
//   });  // every message of every rank has been handled
//
// - A message is typed by its handler's parameters; message_parts.hpp says which types there are. A handler
//   may read what a std::span or std::string_view shows until it returns.
// - Handlers run on the workers, several at once, in no order, unless the message is `ordered`. They may
//   send, fork, and fulfil keys of task graphs. One that takes long delays no other, if a worker is free.
// - All ranks call run() equally often; the n-th calls belong together. No message of one call is handled
//   within another, and none of one communicator by another one. A message sent outside of run() is handled
//   in the next one.
// - If something throws on one rank, run() throws on all: there, what was thrown; elsewhere rank_failed.
//   Messages that have not been handled are dropped on all ranks.
// - The runtime and the transport outlive the communicator.
class communicator {
 public:
  communicator(runtime& rt, transport& through, const communicator_options& how = {});
  // Waits until it is destroyed on all ranks. If others call run() meanwhile, because an exception has
  // brought this rank here, that throws rank_failed on these. Not while run() is in progress.
  ~communicator();
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int ranks() const noexcept;

  // Registers a message, and its handler. The handler's parameters have types of their own, not `auto`: they
  // are the message's. It is called on several workers at once, also with the same captures. Throws misuse
  // while run() is in progress.
  template <class F>
  [[nodiscard]] auto on(F&& handler) {
    return add(false, std::forward<F>(handler), detail::handler_parameters_t<F>{});
  }
  template <class F>
  [[nodiscard]] auto on(ordered_t /*how*/, F&& handler) {
    return add(true, std::forward<F>(handler), detail::handler_parameters_t<F>{});
  }

  // Registers a large message: an array of T, of any size, that goes from the sender's memory to where the
  // receiver says, beside small arguments.
  //
  //   const auto block = comm.on_large(
  //       [&](int i, int j, std::size_t n) -> std::span<double> { return matrix.block(i, j); },
  //       [&](int i, int j, std::span<double> x) { ready(i, j); });
  //   block.send(to, i, j, x, [&] { /* x may be changed */ });
  //
  // land(arguments..., n) returns memory for n elements, which is nobody else's until
  // arrived(arguments..., memory) is called. Both run on a worker, as handlers do; so a large message takes
  // no memory of the library's. If the memory has another size, the run fails with wrong_landing. Throws
  // misuse while run() is in progress.
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
  // on every rank, every message has been handled, and nobody holds the communicator.
  //
  // Throws what f or a handler throws on this rank; rank_failed if it was on another; ranks_differ if the
  // ranks have registered different messages or run different programs, malformed_message if a message was
  // spoilt on its way. Throws misuse if another call is in progress.
  template <class F>
  void run(F&& f) {
    source_->run_epoch([](void* what) { (*static_cast<std::remove_reference_t<F>*>(what))(); },
                       const_cast<void*>(static_cast<const void*>(std::addressof(f))));
  }

  // While it lives, run() does not end: for work that a handler or f() has begun that goes on after it has
  // returned, and is to send more.
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

  // The workers, the transport and the window, for parts of a program that have messages of their own.
  [[nodiscard]] runtime& workers() const noexcept { return runtime_; }
  [[nodiscard]] transport& network() const noexcept { return transport_; }
  [[nodiscard]] std::size_t window() const noexcept;

  // What this rank has sent and handled.
  [[nodiscard]] message_counters counters() const { return source_->counters(); }

  // For other parts of libteff.
  [[nodiscard]] detail::communicator_core& internals() const noexcept { return source_->core(); }
  [[nodiscard]] detail::message_source& source() const noexcept { return *source_; }

  // Whether run() is going to throw: something has failed, here or on another rank. For what takes long.
  [[nodiscard]] bool cancelled() const noexcept;

 private:
  friend class detail::replay_ranks;
  // What it is called in words.
  communicator(runtime& rt, transport& through, const communicator_options& how, const std::string& kind);

  template <class F, class Parameters>
  auto add(bool in_order, F&& handler, Parameters of) {
    return added(detail::make_message(of, in_order, std::decay_t<F>(std::forward<F>(handler))), of);
  }
  template <class... Parameters>
  auto added(detail::registered_message made, detail::parameters<Parameters...> /*of*/) {
    return message<detail::argument<Parameters>...>(*source_, source_->core().add(std::move(made)));
  }

  template <class T, class Land, class Arrived, class... Parameters>
  auto added_large(Land&& land, Arrived&& arrived, detail::parameters<Parameters...> of) {
    return large_message<T, detail::argument<Parameters>...>(
        *source_, source_->core().add(
                      detail::make_large_message<T>(of, std::decay_t<Land>(std::forward<Land>(land)),
                                                    std::decay_t<Arrived>(std::forward<Arrived>(arrived)))));
  }

  runtime& runtime_;
  transport& transport_;
  std::shared_ptr<detail::message_source> source_;
};

}  // namespace teff
