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
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

namespace teff::detail {

class communicator_core;

class large_messages {
 public:
  explicit large_messages(communicator_core& core) : core_(core) {}

  // Sends data to a rank: calls send(arguments), which sends a message with the offer of these data before
  // the arguments. After a failure it sends nothing.
  void offer(int to, std::span<const std::byte> data, std::function<void()> may_reuse,
             const outgoing_arguments& arguments, const std::function<void(const outgoing_arguments&)>& send);

  // ---- Handlers ----

  // Handles an offer, with the arguments behind it.
  void take_offer(const large_functions& functions, std::span<const std::byte> bytes);
  void take_step(block_step step, std::span<const std::byte> bytes);

 private:
  struct offered {
    std::span<const std::byte> data;
    std::function<void()> may_reuse;
  };
  // An offer whose data the sender supplies.
  struct taken {
    const large_functions* functions;
    packet bytes;  // of the offer, as they came
    std::span<std::byte> to;
  };
  struct outgoing_offer;

  // Asks the program for memory, and calls use(memory). If that fails, or the epoch is cancelled, refuses the
  // offer and returns false.
  template <class Use>
  [[nodiscard]] bool lands(const large_functions& functions, const block_offer& offer,
                           std::span<const std::byte> arguments, Use use);
  void take_now(const large_functions& functions, const block_offer& offer,
                std::span<const std::byte> arguments);
  [[nodiscard]] offered offered_as(std::uint64_t number, bool ends);
  void fetch(const block_offer& offer, std::span<std::byte> to);
  void answer(const block_offer& offer);
  void fill_slots();
  void take_data(int slot);

  // The data of so many large messages may be expected at one time. Further offers wait, and the program is
  // not asked for their memory.
  static constexpr std::size_t most_expected = 4;

  communicator_core& core_;
  std::mutex mutex_;  // guards what follows
  std::uint64_t offers_ = 0;
  std::unordered_map<std::uint64_t, offered> offered_;          // whose data are in use
  std::deque<std::unique_ptr<taken>> waiting_;                  // only while all slots are taken
  std::array<std::unique_ptr<taken>, most_expected> expected_;  // by slot; null: the slot is free
};

}  // namespace teff::detail
