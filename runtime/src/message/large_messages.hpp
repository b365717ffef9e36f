// Large messages: the offers of the sender, and the slots of the receiver (src/message/large.md).
#pragma once

#include <teff/detail/message/message_access.hpp>
#include <teff/detail/message/packet.hpp>
#include <teff/transport.hpp>
#include "message/wire.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

namespace teff::detail {

class communicator_core;

class large_messages {
 public:
  explicit large_messages(communicator_core& core) noexcept : core_(core) {}

  // ---- On the sender ----

  // Makes the offer of these data to a rank; the caller sends it before the arguments of the message.
  [[nodiscard]] block_offer offer(int to, std::span<const std::byte> data, std::function<void()> may_reuse);
  // The offer was sent to this rank.
  void sent(const block_offer& offer);
  // The offer was not sent.
  void take_back(int to, const block_offer& offer) noexcept;
  // Adds the number of large messages to rank `to`, and their bytes.
  void count_in(message_counts& sent, int to);

  // ---- Handlers ----

  // Handles an offer, with the arguments behind it.
  void take_offer(const large_functions& functions, std::span<const std::byte> bytes);
  void take_step(block_step step, std::span<const std::byte> bytes);

 private:
  struct offered {
    std::span<const std::byte> data;
    std::function<void()> may_reuse;
  };
  // An offer that waits for a slot: its bytes, as they came.
  struct waiting {
    const large_functions* functions;
    packet bytes;
  };
  struct expected {
    waiting of;
    std::span<std::byte> to;
  };

  // Asks the program for memory, and calls use(memory). If that fails, or the epoch is cancelled, refuses the
  // offer and returns false.
  template <class Use>
  [[nodiscard]] bool lands(const large_functions& functions, const block_offer& offer,
                           std::span<const std::byte> arguments, Use use);
  void take_now(const large_functions& functions, const block_offer& offer,
                std::span<const std::byte> arguments);
  [[nodiscard]] std::span<const std::byte> data_of(std::uint64_t number);
  void release(std::uint64_t number);
  void fetch(const block_offer& offer, std::span<std::byte> to);
  void answer(const block_offer& offer);
  void refuse(const block_offer& offer);
  [[nodiscard]] bool expect(int slot, waiting of);
  void next_for(int slot);
  void take_data(int slot);

  // The data of so many large messages may be expected at one time. Further offers wait, and the program is
  // not asked for their memory.
  static constexpr std::size_t most_expected = 4;

  communicator_core& core_;
  std::mutex mutex_;  // guards what follows
  std::uint64_t offers_ = 0;
  std::unordered_map<int, message_counts> sent_;  // by rank: offers
  std::unordered_map<std::uint64_t, offered> offered_;
  std::array<bool, most_expected> taken_{};
  std::deque<waiting> waiting_;  // only while all slots are taken
  // By slot. The handler that takes a slot fills its entry, the handler of `arrived` empties it.
  std::array<std::optional<expected>, most_expected> expected_;
};

}  // namespace teff::detail
