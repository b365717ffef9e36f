// What lies in a packet of a communicator.
#pragma once

#include <teff/detail/message/argument_bytes.hpp>
#include <teff/detail/message/completion.hpp>

#include <cstddef>
#include <cstdint>

namespace teff::detail {

enum class packet_kind : std::uint16_t {
  messages,  // records follow
  hello,     // the sender's messages in words follow, if they have changed
  report,    // to the parent: completion_counts follow
  ask,       // to the children
  end,       // to the children: completion_counts follow, of all ranks
  fail,      // to the parent: a rank and words follow
  abort,     // to the children: the same
  // From here on, of any epoch.
  acknowledges,    // nothing but the header
  clock_question,  // to rank 0, for a trace: what its trace has to answer follows
  clock_answer,    // from rank 0: what it has answered
};

// The headers are as short as can be: with them, a message of one number is a line of a ring
// (src/mpi/rings.md).
struct packet_header {
  packet_kind kind;
  std::uint16_t records;  // so many messages
  std::uint32_t digest;   // of the messages that the sender has registered
  std::uint64_t epoch;    // of the sender; acknowledgements belong to any
  std::uint64_t handled;  // bytes of messages from the receiver that the sender has handled, since it began
};

// Before the arguments of a message. After them come as many bytes as let those of the next one be aligned.
struct record_header {
  std::uint64_t size : 40;  // of the arguments
  std::uint64_t message : 22;
  std::uint64_t ordered : 1;
  std::uint64_t traced : 1;  // its number in the trace, of 64 bits, lies behind its arguments
};
inline constexpr std::size_t most_argument_bytes = (std::size_t{1} << 40) - 1;
inline constexpr std::uint32_t most_messages = (std::uint32_t{1} << 22) - 16;

static_assert(sizeof(packet_header) == 24 && sizeof(record_header) == 8);
static_assert((sizeof(packet_header) + sizeof(record_header)) % argument_alignment == 0);

// Before the arguments of a large message: where its data lie, and who has them.
struct block_offer {
  std::int32_t from;
  std::uint32_t deposit;  // the channel's number of a copy; none: they are in the sender's memory
  std::uint64_t number;   // among those that this rank has offered
  std::uint64_t address;  // in its memory
  std::uint64_t bytes;

  static constexpr std::uint32_t no_deposit = ~std::uint32_t{0};
  [[nodiscard]] bool is_deposited() const noexcept { return deposit != no_deposit; }
};

// Messages of the communicator itself about offers, by numbers that no registered message has
// (src/message/large.md).
enum class block_step : std::uint32_t {
  done = most_messages,  // to who has offered: the data have been read, or are not wanted
  ready,                 // to who has offered: supply them
  arrived,               // to who has asked for them: the data
  left,                  // to itself: the data that it has supplied may be changed
};
[[nodiscard]] constexpr bool is_block_step(std::uint32_t message) noexcept {
  return message >= static_cast<std::uint32_t>(block_step::done);
}

// The arguments of all of them.
struct block_word {
  std::uint64_t number;  // the offer's; not in `arrived`
  std::int32_t slot;     // the receiver's number for it; not in `done` and `left`
  std::int32_t from;     // who says it
};

static_assert(sizeof(block_offer) % argument_alignment == 0);

// The bytes of a message with arguments of this size.
[[nodiscard]] constexpr std::size_t record_bytes(std::size_t arguments) noexcept {
  return aligned_up(sizeof(record_header) + arguments, argument_alignment);
}

}  // namespace teff::detail
