// A communicator as the templates of messages use it. The rest of it is compiled once
// (src/message/message_source.hpp).
#pragma once

#include <teff/detail/message/arguments.hpp>
#include <teff/detail/scheduler/waiting.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace teff::detail {

class message_source;
class replay_ranks;  // makes a communicator under another name

// The program's two functions on the receiver of a large message, for arguments as bytes.
struct large_functions {
  // Returns memory for so many bytes. Throws wrong_landing, and what the function of the program throws.
  std::function<std::span<std::byte>(std::span<const std::byte> arguments, std::size_t bytes)> land;
  // The data are there.
  std::function<void(std::span<const std::byte> arguments, std::span<std::byte> data)> arrived;
};

struct registered_message {
  std::string arguments;  // their types, in words
  bool ordered = false;
  // Takes the arguments out of the bytes, and calls the handler. Throws malformed_message, and what the
  // handler throws.
  std::function<void(std::span<const std::byte>)> handle;
  // The program's functions for a large message. register_message() then sets `handle`.
  std::shared_ptr<const large_functions> large = nullptr;
};

// Registers a message, and returns its number. Throws misuse within an epoch.
std::uint32_t register_message(message_source& of, registered_message added);
// Sends message `number`. Waits for room if need be.
void send_message(message_source& of, int to, std::uint32_t number, const outgoing_arguments& arguments);
// The same for a large message.
void send_large_message(message_source& of, int to, std::uint32_t number, std::span<const std::byte> data,
                        std::function<void()> may_reuse, const outgoing_arguments& arguments);
// Calls body(what) on a worker, and returns when the epoch has ended on all ranks. Throws what went wrong.
void run_epoch(message_source& of, action body);
// Reasons why sending and handling leave their usual path lie in one word of the communicator, so that one
// look suffices. This one: the epoch has failed.
inline constexpr unsigned cancelled_mark = 1;
// The number of the epoch that began last.
[[nodiscard]] std::uint64_t epoch_of(message_source& of) noexcept;

// A rank's work besides messages that belongs to an epoch, such as a task graph.
class epoch_part {
 public:
  virtual ~epoch_part() = default;
  // As in message_host. The thread that makes at_rest() true calls
  // message_source::look_again() then.
  [[nodiscard]] virtual bool at_rest() noexcept = 0;
  // Called by a worker when handlers have run: it may run what they have made ready, before it looks at
  // anything else.
  virtual void follow_handlers() noexcept = 0;
  [[nodiscard]] virtual std::uint64_t left() noexcept = 0;
  // A description of what goes on.
  [[nodiscard]] virtual std::string state() const = 0;
};

// Rounds of a reduction (collectives.hpp), which are to be complete when their epoch ends.
class kept_rounds {
 public:
  virtual ~kept_rounds() = default;
  // How many of this epoch wait for values on this rank.
  [[nodiscard]] virtual std::uint64_t waiting(std::uint64_t epoch) = 0;
  // A description of these rounds, and of the ranks that they wait for; empty if none waits.
  [[nodiscard]] virtual std::string waits_in_words(std::uint64_t epoch) = 0;
};
// The communicator keeps them. Outside of epochs.
void keep_rounds(message_source& by, std::shared_ptr<kept_rounds> rounds);

}  // namespace teff::detail
