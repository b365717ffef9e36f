#include "mpi/rings.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <span>
#include <utility>

namespace teff::detail {

namespace {

struct piece_header {
  std::uint32_t channel;
  std::uint32_t bytes;  // bytes of the packet in this piece
  std::uint64_t total;  // bytes of the whole packet
};

constexpr std::size_t lines_of(std::size_t bytes) noexcept {
  return (sizeof(piece_header) + bytes + rings::line_bytes - 1) / rings::line_bytes;
}

}  // namespace

// The segment of one rank in shared memory. The rings that lead to it follow.
struct rings::segment {
  bell<futex> doorbell;
  std::atomic<std::uint32_t> opened{0};  // channels that the rank has opened

  // The ring from that rank to this one; its lines follow it.
  [[nodiscard]] static std::byte* ring(std::byte* at, std::size_t lines, std::size_t from) noexcept {
    return at + first + from * ring_bytes(lines);
  }
  [[nodiscard]] static std::size_t ring_bytes(std::size_t lines) noexcept {
    return sizeof(memory) + lines * sizeof(memory::line);
  }
  static constexpr std::size_t first = alignof(memory);
};

struct rings::outbound {
  outbound(memory& shared, memory::line* first, std::size_t lines) noexcept
      : most(lines / 4 * line_bytes - sizeof(piece_header)), ring(shared, first, lines) {}

  // A packet that waits for room, and how much of it is in the ring.
  struct leaving {
    std::uint32_t channel;
    packet bytes;
    std::size_t sent;
  };
  // Puts pieces of the packet into the ring as long as they find room, and adds them to `sent`. Returns
  // whether the packet is whole there.
  bool put(std::uint32_t channel, std::span<const std::byte> bytes, std::size_t& sent) noexcept;

  const std::size_t most;  // bytes of a packet in one piece
  spin_lock mutex;         // guards what follows
  ring_producer<futex, payload> ring;
  std::deque<leaving> waiting;
  std::atomic<std::size_t> wanted{0};  // lines of the next piece that waits
  std::atomic<std::uint64_t> packets_sent{0};
};

bool rings::outbound::put(std::uint32_t channel, std::span<const std::byte> bytes,
                          std::size_t& sent) noexcept {
  while (sent != bytes.size()) {
    const auto size = std::min(bytes.size() - sent, most);
    if (!ring.finds_room(lines_of(size))) return false;
    const piece_header head{channel, static_cast<std::uint32_t>(size), bytes.size()};
    std::memcpy(ring.at(0).data(), &head, sizeof head);
    const auto* const from = bytes.data() + sent;
    std::size_t done = std::min(size, line_bytes - sizeof head);
    std::memcpy(ring.at(0).data() + sizeof head, from, done);
    std::size_t lines = 1;
    for (; done + line_bytes <= size; ++lines, done += line_bytes)
      std::memcpy(ring.at(lines).data(), from + done, line_bytes);
    if (done != size) std::memcpy(ring.at(lines++).data(), from + done, size - done);
    ring.publish(lines);
    sent += size;
  }
  return true;
}

struct rings::inbound {
  // The consumer gives back few enough lines at once that the longest piece finds room.
  inbound(memory& shared, memory::line* first, std::size_t lines) noexcept
      : ring(shared, first, lines, std::clamp<std::size_t>(lines / 16, 1, 64)) {}
  ring_consumer<futex, payload> ring;
  packet begun;  // a packet whose first pieces have come
  std::size_t has = 0;
};

std::size_t rings::segment_bytes(std::size_t ranks, std::size_t lines) noexcept {
  return segment::first + ranks * segment::ring_bytes(lines);
}

void rings::prepare(std::byte* at, std::size_t ranks, std::size_t lines) {
  static_assert(sizeof(memory::line) == 64 && sizeof(segment) <= segment::first);
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // so it may be shared between processes
  ::new (at) segment;
  for (std::size_t from = 0; from < ranks; ++from) {
    auto* const ring = segment::ring(at, lines, from);
    ::new (ring) memory;
    for (std::size_t i = 0; i < lines; ++i)
      ::new (ring + sizeof(memory) + i * sizeof(memory::line)) memory::line;
  }
}

rings::rings(std::vector<std::byte*> segments, std::size_t self, std::size_t lines) : self_(self) {
  const auto end_of = [lines]<class End>(std::unique_ptr<End>& made, std::byte* ring) {
    made = std::make_unique<End>(*std::launder(reinterpret_cast<memory*>(ring)),
                                 std::launder(reinterpret_cast<memory::line*>(ring + sizeof(memory))), lines);
  };
  for (std::size_t each = 0; each < segments.size(); ++each) {
    auto* const head = std::launder(reinterpret_cast<segment*>(segments[each]));
    bells_.push_back(&head->doorbell);
    opened_.push_back(&head->opened);
    auto& to = outbound_.emplace_back();
    auto& from = inbound_.emplace_back();
    if (each == self) continue;
    end_of(to, segment::ring(segments[each], lines, self));
    end_of(from, segment::ring(segments[self], lines, each));
  }
}

rings::~rings() = default;

rings::inbox& rings::open(std::uint32_t channel) {
  const std::lock_guard lock(receiving_);
  opened_[self_]->store(channel + 1, std::memory_order_relaxed);
  return inbox_of(channel);
}

bool rings::has_opened(std::size_t rank, std::uint32_t channel) const noexcept {
  return opened_[rank]->load(std::memory_order_relaxed) > channel;
}

// The caller holds receiving_.
rings::inbox& rings::inbox_of(std::uint32_t channel) {
  auto& box = inboxes_[channel];
  if (!box) box = std::make_unique<inbox>(channel);
  return *box;
}

void rings::close(std::uint32_t channel) noexcept {
  const std::lock_guard lock(receiving_);
  inboxes_.erase(channel);
}

void rings::on_arrival(inbox& of, std::function<void()> tell) {
  const std::lock_guard lock(receiving_);
  of.tell = std::move(tell);
}

doorbell rings::listen(std::uint32_t sleeper) noexcept {
  const auto quiet = bells_[self_]->listen(sleeper);
  if (has_waiting()) {
    // The room after the last starve() may have been too little. The consumer tells of more only after a new
    // one.
    for (const auto& each : outbound_) {
      if (each && each->wanted.load(std::memory_order_seq_cst) != 0) each->ring.starve();
    }
  }
  return {&bells_[self_]->word(), quiet};
}

bool rings::has_arrivals(const inbox& of) const noexcept {
  // seq_cst, all: after the worker has announced that it sleeps; pair with deliver(), send(), put_waiting()
  // and the ring's publish() and give_back().
  if (of.size.load(std::memory_order_seq_cst) != 0) return true;
  for (const auto& each : inbound_) {
    if (each && each->ring.ready()) return true;
  }
  if (!has_waiting()) return false;
  return std::ranges::any_of(outbound_, [](const auto& each) {
    const auto wanted = each ? each->wanted.load(std::memory_order_seq_cst) : 0;
    return wanted != 0 && each->ring.has_room(wanted);
  });
}

std::size_t rings::under_way(const inbox& of, std::size_t to) const noexcept {
  if (to == self_) return of.from_own.load(std::memory_order_relaxed);
  const auto& out = *outbound_[to];
  return static_cast<std::size_t>(out.packets_sent.load(std::memory_order_relaxed) -
                                  out.ring.packets_taken());
}

// ---- Sending ----

void rings::send(std::uint32_t channel, std::size_t to, packet&& bytes) {
  if (to == self_) {
    const std::lock_guard lock(receiving_);
    auto& box = inbox_of(channel);
    box.from_own.fetch_add(1, std::memory_order_relaxed);
    return deliver(box, {static_cast<int>(self_), std::move(bytes)});
  }
  auto& out = *outbound_[to];
  {
    const std::lock_guard lock(out.mutex);
    out.packets_sent.store(out.packets_sent.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::size_t sent = 0;
    if (!out.waiting.empty() || !out.put(channel, bytes.bytes(), sent)) {
      out.waiting.push_back({channel, std::move(bytes), sent});
      // seq_cst: before the looks for room. A worker that is woken because there is room sees the packet.
      waiting_.fetch_add(1, std::memory_order_seq_cst);
      put_waiting(out);
    }
  }
  bells_[to]->ring();
}

// The caller holds the lock of `out`.
void rings::put_waiting(outbound& out) {
  while (!out.waiting.empty()) {
    auto& next = out.waiting.front();
    if (!out.put(next.channel, next.bytes.bytes(), next.sent)) {
      const auto lines = lines_of(std::min(next.bytes.size() - next.sent, out.most));
      // seq_cst: before starve() and the look for room. Either this thread sees the room, or the consumer
      // sees it starved.
      out.wanted.store(lines, std::memory_order_seq_cst);
      out.ring.starve();
      if (!out.ring.finds_room(lines)) return;
      continue;
    }
    out.waiting.pop_front();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  out.wanted.store(0, std::memory_order_relaxed);
}

void rings::send_waiting() {
  for (std::size_t to = 0; to < outbound_.size(); ++to) {
    if (to == self_) continue;
    auto& out = *outbound_[to];
    const auto wanted = out.wanted.load(std::memory_order_relaxed);
    if (wanted == 0 || !out.ring.has_room(wanted)) continue;
    {
      const std::lock_guard lock(out.mutex);
      put_waiting(out);
    }
    bells_[to]->ring();
  }
}

// ---- Receiving ----

// The caller holds receiving_.
void rings::deliver(inbox& in, channel::arrival came) {
  in.arrivals.push_back(std::move(came));
  // seq_cst: before tell() looks for sleepers; pairs with has_arrivals().
  in.size.fetch_add(1, std::memory_order_seq_cst);
  if (in.tell) in.tell();
}

// Takes a piece from a ring. Returns the packet if it is whole now and for `of`; delivers it to another
// inbox. The caller holds receiving_.
std::optional<channel::arrival> rings::take(std::size_t from, const inbox& of) {
  auto& in = *inbound_[from];
  piece_header head;
  std::memcpy(&head, in.ring.at(0).data(), sizeof head);
  const auto size = static_cast<std::size_t>(head.bytes);
  if (in.begun.empty()) in.begun.append(head.total);
  auto* const to = in.begun.data() + in.has;
  std::size_t done = std::min(size, line_bytes - sizeof head);
  std::memcpy(to, in.ring.at(0).data() + sizeof head, done);
  std::size_t lines = 1;
  for (; done + line_bytes <= size; ++lines, done += line_bytes)
    std::memcpy(to + done, in.ring.at(lines).data(), line_bytes);
  if (done != size) std::memcpy(to + done, in.ring.at(lines++).data(), size - done);
  in.has += size;
  const bool whole = in.has == head.total;
  if (in.ring.give_back(lines, whole ? 1 : 0)) bells_[from]->ring();
  if (!whole) return std::nullopt;
  in.has = 0;
  channel::arrival came{static_cast<int>(from), std::exchange(in.begun, {})};
  if (head.channel == of.channel) return came;
  deliver(inbox_of(head.channel), std::move(came));
  return std::nullopt;
}

std::optional<channel::arrival> rings::receive(inbox& of) {
  if (!has_arrivals(of)) return std::nullopt;
  if (has_waiting()) send_waiting();
  const std::lock_guard lock(receiving_);
  if (!of.arrivals.empty()) {
    std::optional<channel::arrival> first(std::move(of.arrivals.front()));
    of.arrivals.pop_front();
    of.size.fetch_sub(1, std::memory_order_relaxed);
    if (first->from == static_cast<int>(self_)) of.from_own.fetch_sub(1, std::memory_order_relaxed);
    return first;
  }
  // Each rank has its turn, so that a rank which sends without end keeps no other rank waiting.
  for (std::size_t looked = 0; looked < inbound_.size(); ++looked) {
    const auto from = next_from_;
    next_from_ = next_from_ + 1 == inbound_.size() ? 0 : next_from_ + 1;
    while (from != self_ && inbound_[from]->ring.ready()) {
      if (auto came = take(from, of)) return came;
    }
  }
  return std::nullopt;
}

}  // namespace teff::detail
