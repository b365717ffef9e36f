// Sends the messages of a communicator, gathered or alone, and its own packets.
#include <teff/detail/exceptions.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/error.hpp>
#include "message/communicator_core.hpp"

#include "platform/ticks.hpp"
#include "trace/trace.hpp"

#include <cstring>
#include <utility>

namespace teff::detail {

namespace {

// A packet of this size leaves even if others are on their way.
constexpr std::size_t packet_size = std::size_t{16} << 10;
// While so many packets are on their way to a rank, further messages to it are gathered.
constexpr std::size_t packets_under_way = 2;
// The sender of the first gathered message, and of each that fills so many bytes more, looks whether the
// packet may leave.
constexpr std::size_t bytes_a_look = 256;

}  // namespace

bool communicator_core::has_room(int to) noexcept {
  const auto* const there = peers_.find(to);
  return there == nullptr || has_room(*there);
}

bool communicator_core::has_room(const peer& there) const noexcept {
  // seq_cst: the last look before the caller sleeps; pairs with receive().
  const auto acknowledged = there.acknowledged_bytes.load(std::memory_order_seq_cst);
  return there.sent_bytes.load(std::memory_order_relaxed) - acknowledged < window_ || cancelled();
}

void communicator_core::expect_rank(int to) const {
  if (to < 0 || to >= ranks()) [[unlikely]]
    refuse_index("teff::message::send", "rank", to, ranks());
}

bool communicator_core::try_send(int to, std::uint32_t number, const outgoing_arguments& arguments) {
  expect_rank(to);
  trace_ring* ring = nullptr;  // null: the message gets no number in a trace
  if (const auto marks = marks_.load(std::memory_order_relaxed); marks != 0) [[unlikely]] {
    if ((marks & cancelled_mark) != 0) return true;
    ring = ring_here();
  }
  if (arguments.size > most_argument_bytes) [[unlikely]]
    throw misuse("teff::communicator: a message of more than a TiB");
  const auto began = ring != nullptr ? ticks::now() : 0;
  std::uint64_t traced = 0;
  {
    auto& there = peers_.at(to);
    const std::lock_guard lock(there.mutex);
    if (!has_room(there) && !in_handler()) {
      waits_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    if (ring != nullptr) [[unlikely]]
      traced = ring->next_message(rank_);
    const auto behind = ring != nullptr ? sizeof traced : 0;
    put_record(to, there, {arguments.size + behind, number, messages_[number].ordered, ring != nullptr},
               arguments, traced);
  }
  if (ring != nullptr) [[unlikely]]
    ring->add({.began = began,
               .ended = ticks::now(),
               .message = traced,
               .other = static_cast<std::uint32_t>(to),
               .what = event_kind::send});
  return true;
}

// The caller holds the peer's lock. Inlined into try_send(), the path of every message.
[[gnu::always_inline]] inline void communicator_core::put_record(int to, peer& there,
                                                                 const record_header& head,
                                                                 const outgoing_arguments& arguments,
                                                                 std::uint64_t traced) {
  // Relaxed: a thread of an activity sees the stamp of its epoch. For any other thread both stamps will do. A
  // thread that takes the lock after give_counts() has had it sees the seal, or a later stamp.
  const auto stamp = stamp_.load(std::memory_order_relaxed);
  const auto bytes = record_bytes(head.size);
  if (there.gathered_records != 0 &&
      (there.gathered_epoch != stamp || there.gathered.size() + bytes > packet_size))
    send_gathered(to, there);
  if (there.gathered.empty()) there.gathered.append(sizeof(packet_header));
  const auto before = there.gathered.size();
  auto* const record = there.gathered.append(bytes);
  std::memcpy(record, &head, sizeof head);
  try {
    arguments.write(arguments.of, record + sizeof head);
  } catch (...) {
    there.gathered.cut(before);
    throw;
  }
  if (head.traced != 0) [[unlikely]]
    std::memcpy(record + sizeof head + arguments.size, &traced, sizeof traced);
  std::memset(record + sizeof head + head.size, 0, bytes - sizeof head - head.size);
  there.gathered_epoch = stamp;
  ++there.gathered_records;
  ++there.sent[stamp % 2];
  there.sent_bytes.store(there.sent_bytes.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  if (there.gathered.size() >= packet_size || leaves_at_once(to, there, bytes)) {
    send_gathered(to, there);
  } else if (!gathers_.load(std::memory_order_seq_cst) &&
             !gathers_.exchange(true, std::memory_order_seq_cst)) {
    // The worker that clears gathers_ after that load takes this lock later, and sends this message.
    host_.work_came();
  }
}

// Whether the gathered packet may leave now, after a message of `added` bytes. The acknowledgements often
// tell that at most one packet is on its way. Otherwise the channel is asked, which may have to fetch a cache
// line from the other rank.
bool communicator_core::leaves_at_once(int to, const peer& there, std::size_t added) const noexcept {
  static_assert(packets_under_way == 2);
  if (there.acknowledged_bytes.load(std::memory_order_relaxed) >= there.before_last_packet) return true;
  const auto size = there.gathered.size();
  const bool looks = there.gathered_records == 1 || size / bytes_a_look != (size - added) / bytes_a_look;
  return looks && channel_->under_way(to) < packets_under_way;
}

packet_header communicator_core::header(packet_kind kind, std::uint16_t records, std::uint64_t epoch,
                                        peer& to) noexcept {
  const auto handled = to.handled_bytes.load(std::memory_order_relaxed);
  to.told_bytes.store(handled, std::memory_order_relaxed);
  // Questions about the clock are answered even while the program registers messages, which changes digest_.
  const auto digest = kind < packet_kind::clock_question ? digest_ : 0;
  return {kind, records, digest, epoch, handled};
}

// The caller holds the peer's lock, which keeps packets in order.
void communicator_core::send_gathered(int to, peer& there) {
  const auto head = header(packet_kind::messages, there.gathered_records, there.gathered_epoch, there);
  std::memcpy(there.gathered.data(), &head, sizeof head);
  there.gathered_records = 0;
  there.before_last_packet =
      there.sent_bytes.load(std::memory_order_relaxed) - (there.gathered.size() - sizeof head);
  ++there.packets_sent;
  channel_->send(to, std::move(there.gathered));
  // The channel may have left the memory here. The next packet uses it unless it is that of a long message.
  there.gathered.cut(0);
  if (there.gathered.capacity() > 2 * packet_size) there.gathered = {};
}

bool communicator_core::send_all_gathered() {
  if (!gathers_.load(std::memory_order_relaxed)) return false;
  // seq_cst: before the looks at gathered messages. A thread that gathers one later sets it again; pairs with
  // put_record().
  gathers_.store(false, std::memory_order_seq_cst);
  peers_.each([this](int to, peer& there) {
    const std::lock_guard lock(there.mutex);
    if (there.gathered_records != 0) send_gathered(to, there);
  });
  return true;
}

void communicator_core::send_control(int to, packet_kind kind, std::span<const std::byte> body,
                                     std::span<const std::byte> rest) {
  auto& there = peers_.at(to);
  packet bytes;
  const auto head = header(kind, 0, epoch_.load(std::memory_order_relaxed), there);
  auto* at = bytes.append(sizeof head + body.size() + rest.size());
  for (const auto part : {std::as_bytes(std::span(&head, 1)), body, rest}) {
    if (!part.empty()) std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  const std::lock_guard lock(there.mutex);
  if (kind == packet_kind::note) ++there.sent[head.epoch % 2];
  channel_->send(to, std::move(bytes));
}

void communicator_core::tell_children(packet_kind kind, std::span<const std::byte> body) {
  completion_.tree().each_child([&](int child) { send_control(child, kind, body); });
}

// ---- For large messages ----

void communicator_core::send_step(int to, block_step step, const block_word& word) {
  // The window does not hold back a step, and no failure drops it.
  auto& there = peers_.at(to);
  const std::lock_guard lock(there.mutex);
  put_record(to, there, {sizeof word, static_cast<std::uint32_t>(step), false, false},
             outgoing<block_word>(word));
}

packet communicator_core::step_packet(block_step step, const block_word& word) const {
  // This rank makes the packet for itself, so it reports no handled bytes.
  const packet_header head{packet_kind::messages, 1, digest_, epoch_.load(std::memory_order_relaxed), 0};
  const record_header record{sizeof word, static_cast<std::uint32_t>(step), false, false};
  packet bytes;
  auto* const at = bytes.append(sizeof head + record_bytes(sizeof word));
  std::memset(at, 0, bytes.size());
  std::memcpy(at, &head, sizeof head);
  std::memcpy(at + sizeof head, &record, sizeof record);
  std::memcpy(at + sizeof head + sizeof record, &word, sizeof word);
  return bytes;
}

void communicator_core::count_step(int to) {
  auto& there = peers_.at(to);
  const std::lock_guard lock(there.mutex);
  ++there.sent[stamp_.load(std::memory_order_relaxed) % 2];
  // The rank that handles the step counts the same number of bytes as handled.
  there.sent_bytes.store(there.sent_bytes.load(std::memory_order_relaxed) + record_bytes(sizeof(block_word)),
                         std::memory_order_relaxed);
}

}  // namespace teff::detail
