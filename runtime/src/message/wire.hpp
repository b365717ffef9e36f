// The layout of a packet of a communicator.
#pragma once

#include <teff/detail/message/argument_bytes.hpp>
#include <teff/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace teff::detail {

enum class packet_kind : std::uint16_t {
  messages,  // records follow
  hello,     // the sender's messages in words follow, if they have changed
  report,    // to the parent: completion_counts follow
  ask,       // to the children
  end,       // to the children: completion_counts follow, of all ranks
  fail,      // to the parent: a rank and words follow
  abort,     // to the children: the same
  note,      // for the owner of the communicator: its bytes follow; counts as a message
  // The following kinds belong to no epoch.
  acknowledges,    // nothing but the header
  clock_question,  // to rank 0, for a trace: the question follows
  clock_answer,    // from rank 0: the answer follows
};

// Both headers are short: with them, a message of one number fits a line of a ring (src/mpi/rings.md).
struct packet_header {
  packet_kind kind;
  std::uint16_t records;  // their number
  std::uint32_t digest;   // of the sender's registered messages
  std::uint64_t epoch;    // of the sender
  std::uint64_t handled;  // bytes of the receiver's messages that the sender has handled so far
};

// Stands before the arguments of a message. Padding behind them aligns the next record.
struct record_header {
  std::uint64_t size : 40;  // of the arguments, and of the number below
  std::uint64_t message : 22;
  std::uint64_t ordered : 1;
  std::uint64_t traced : 1;  // a number of 64 bits for the trace lies behind the arguments
};
inline constexpr std::size_t most_argument_bytes = (std::size_t{1} << 40) - 1;
inline constexpr std::uint32_t most_messages = (std::uint32_t{1} << 22) - 16;

static_assert(sizeof(packet_header) == 24 && sizeof(record_header) == 8);
static_assert((sizeof(packet_header) + sizeof(record_header)) % argument_alignment == 0);

// Stands before the arguments of a large message: says where its data lie.
struct block_offer {
  std::int32_t from;
  std::uint32_t deposit;  // the channel's number of a copy; no_deposit: the data are in the sender's memory
  std::uint64_t number;   // of the offer, counted by its sender
  std::uint64_t address;  // in the sender's memory
  std::uint64_t bytes;

  static constexpr std::uint32_t no_deposit = ~std::uint32_t{0};
  [[nodiscard]] bool is_deposited() const noexcept { return deposit != no_deposit; }
};

// Later steps of a large message. The communicator sends them as messages, with numbers that no registered
// message has (src/message/large.md).
enum class block_step : std::uint32_t {
  done = most_messages,  // to the sender of the data: they were read, or are not wanted
  ready,                 // to the sender of the data: supply them
  arrived,               // to the receiver: the data are there
  left,                  // to the sender of the data, by itself: it may change them
};
[[nodiscard]] constexpr bool is_block_step(std::uint32_t message) noexcept {
  return message >= static_cast<std::uint32_t>(block_step::done);
}

// The arguments of each step.
struct block_word {
  std::uint64_t number;  // of the offer; unused in `arrived`
  std::int32_t slot;     // the receiver's slot; unused in `done` and `left`
  std::int32_t from;     // the rank that made the step
};

static_assert(sizeof(block_offer) % argument_alignment == 0);

// The bytes of a message with arguments of this size.
[[nodiscard]] constexpr std::size_t record_bytes(std::size_t arguments) noexcept {
  return aligned_up(sizeof(record_header) + arguments, argument_alignment);
}

// What a packet contains.
template <class T>
T read_as(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(T)) throw malformed_message("teff::communicator: a packet ends too early");
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}
inline std::string words_in(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const std::byte> bytes_of_words(const std::string& words) noexcept {
  return std::as_bytes(std::span(words));
}

}  // namespace teff::detail
