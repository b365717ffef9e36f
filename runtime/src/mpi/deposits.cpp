#include "mpi/deposits.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace teff::detail {

std::size_t deposits::slot_bytes(std::size_t ranks) noexcept {
  constexpr std::size_t most = std::size_t{256} << 10;
  constexpr std::size_t least = std::size_t{32} << 10;
  constexpr std::size_t of_node = std::size_t{32} << 20;
  const auto size = std::bit_floor(of_node / (ranks * ranks * slots) + 1);
  return ranks == 1 || size < least ? 0 : std::min(size, most);
}

std::size_t deposits::segment_bytes(std::size_t ranks) noexcept {
  const auto size = slot_bytes(ranks);
  return size == 0 ? 0 : ranks * slots * (sizeof(slot) + size);
}

void deposits::prepare(std::byte* segment, std::size_t ranks) {
  if (slot_bytes(ranks) == 0) return;
  for (std::size_t i = 0; i < ranks * slots; ++i) ::new (segment + i * sizeof(slot)) slot;
}

deposits::deposits(std::vector<std::byte*> segments, std::size_t self)
    : self_(self),
      segments_(std::move(segments)),
      slot_bytes_(slot_bytes(segments_.size())),
      outgoing_(segments_.size()) {}

deposits::slot& deposits::state(std::size_t to, std::size_t from, std::uint32_t number) noexcept {
  return *std::launder(reinterpret_cast<slot*>(segments_[to] + (from * slots + number) * sizeof(slot)));
}

std::byte* deposits::bytes(std::size_t to, std::size_t from, std::uint32_t number) noexcept {
  return segments_[to] + segments_.size() * slots * sizeof(slot) + (from * slots + number) * slot_bytes_;
}

std::optional<std::uint32_t> deposits::put(std::uint32_t channel, std::size_t to,
                                           std::span<const std::byte> data) {
  if (data.size() > slot_bytes_) return std::nullopt;
  const auto number = reserve(channel, to);
  if (number) write(to, *number, data);
  return number;
}

std::optional<std::uint32_t> deposits::reserve(std::uint32_t channel, std::size_t to) {
  if (slot_bytes_ == 0) return std::nullopt;
  auto& out = outgoing_[to];
  const std::lock_guard lock(out.mutex);
  for (std::uint32_t number = 0; number < slots; ++number) {
    auto& full = state(to, self_, number).full;
    // Acquire: the other rank has read the old bytes; pairs with take().
    if (full.load(std::memory_order_acquire) != 0) continue;
    // Relaxed: the lock orders it for this rank. The other rank looks at no slot before it is told of it.
    full.store(1, std::memory_order_relaxed);
    out.channel[number] = channel;
    return number;
  }
  return std::nullopt;
}

void deposits::write(std::size_t to, std::uint32_t number, std::span<const std::byte> data) noexcept {
  if (!data.empty()) std::memcpy(bytes(to, self_, number), data.data(), data.size());
}

void deposits::take(std::size_t from, std::uint32_t number, std::span<std::byte> to) noexcept {
  if (!to.empty()) std::memcpy(to.data(), bytes(self_, from, number), to.size());
  // Release: the bytes were read; pairs with reserve().
  state(self_, from, number).full.store(0, std::memory_order_release);
}

void deposits::take_back(std::size_t to, std::uint32_t number) noexcept {
  // Release: this thread has written the bytes; pairs with reserve() of the next thread.
  state(to, self_, number).full.store(0, std::memory_order_release);
}

void deposits::close(std::uint32_t channel) noexcept {
  if (slot_bytes_ == 0) return;
  for (std::size_t to = 0; to < segments_.size(); ++to) {
    auto& out = outgoing_[to];
    const std::lock_guard lock(out.mutex);
    for (std::uint32_t number = 0; number < slots; ++number) {
      if (out.channel[number] == channel) take_back(to, number);
    }
  }
}

}  // namespace teff::detail
