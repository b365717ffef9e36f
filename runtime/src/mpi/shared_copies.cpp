#include "mpi/shared_copies.hpp"

#include <teff/detail/platform/relax.hpp>
#include "mpi/process_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace teff::detail {

namespace {

// The copies of a few parts fit the caches nearest to both cores.
constexpr std::size_t most_of_part = std::size_t{64} << 10;

// With fewer parts, help would not pay.
constexpr std::size_t fewest_parts = 4;

// After so many parts, the helper looks for packets again.
constexpr int parts_a_look = 16;

constexpr int pauses_before_yields = 1000;

}  // namespace

std::size_t shared_copies::slot_bytes(std::size_t ranks) noexcept {
  constexpr std::size_t most = std::size_t{256} << 10;
  constexpr std::size_t least = std::size_t{32} << 10;
  constexpr std::size_t of_node = std::size_t{32} << 20;
  const auto size = std::bit_floor(of_node / (ranks * ranks * slots) + 1);
  return ranks == 1 || size < least ? 0 : std::min(size, most);
}

std::size_t shared_copies::segment_bytes(std::size_t ranks) noexcept {
  const auto size = slot_bytes(ranks);
  return size == 0 ? 0 : ranks * (sizeof(shared) + slots * size);
}

void shared_copies::prepare(std::byte* segment, std::size_t ranks) {
  if (slot_bytes(ranks) == 0) return;
  for (std::size_t i = 0; i < ranks; ++i) ::new (segment + i * sizeof(shared)) shared;
}

shared_copies::shared_copies(std::vector<std::byte*> segments, std::size_t self)
    : self_(self),
      segments_(std::move(segments)),
      slot_bytes_(slot_bytes(segments_.size())),
      part_(std::min(most_of_part, slot_bytes_)),
      others_(segments_.size()) {
  const auto of = [&](std::size_t rank, std::size_t other) -> shared& {
    return *std::launder(reinterpret_cast<shared*>(segments_[rank] + other * sizeof(shared)));
  };
  for (std::size_t each = 0; slot_bytes_ != 0 && each < segments_.size(); ++each) {
    if (each != self) others_[each] = std::make_unique<other_rank>(of(each, self), of(self, each), part_);
  }
}

std::byte* shared_copies::bytes(std::size_t to, std::size_t from, std::uint32_t number) noexcept {
  return segments_[to] + segments_.size() * sizeof(shared) + (from * slots + number) * slot_bytes_;
}

// ---- Deposits ----

std::optional<std::uint32_t> shared_copies::put(std::uint32_t channel, std::size_t to,
                                                std::span<const std::byte> data) {
  if (data.size() > slot_bytes_) return std::nullopt;
  const auto number = reserve(channel, to);
  if (number && !data.empty()) std::memcpy(bytes(to, self_, *number), data.data(), data.size());
  return number;
}

std::optional<std::uint32_t> shared_copies::reserve(std::uint32_t channel, std::size_t to) {
  if (!others_[to]) return std::nullopt;
  auto& out = *others_[to];
  const std::lock_guard lock(out.mutex);
  for (std::uint32_t number = 0; number < slots; ++number) {
    auto& full = out.theirs.from_other[number].full;
    // Acquire: the other rank has read the old bytes; pairs with take().
    if (full.load(std::memory_order_acquire) != 0) continue;
    // Relaxed: the lock orders it for this rank. The other rank looks at no slot before it is told of it.
    full.store(1, std::memory_order_relaxed);
    out.channel[number] = channel;
    return number;
  }
  return std::nullopt;
}

void shared_copies::take(std::size_t from, std::uint32_t number, std::span<std::byte> to) noexcept {
  if (!to.empty()) std::memcpy(to.data(), bytes(self_, from, number), to.size());
  // Release: the bytes were read; pairs with reserve().
  others_[from]->own.from_other[number].full.store(0, std::memory_order_release);
}

void shared_copies::take_back(std::size_t to, std::uint32_t number) noexcept {
  // Release: this thread has written the bytes; pairs with reserve() of the next thread.
  others_[to]->theirs.from_other[number].full.store(0, std::memory_order_release);
}

void shared_copies::close(std::uint32_t channel) noexcept {
  for (std::size_t to = 0; to < others_.size(); ++to) {
    if (!others_[to]) continue;
    auto& out = *others_[to];
    const std::lock_guard lock(out.mutex);
    for (std::uint32_t number = 0; number < slots; ++number) {
      if (out.channel[number] == channel) take_back(to, number);
    }
  }
}

// ---- Reads ----

void shared_copies::read(std::size_t from, pid_t process, std::uint64_t address, std::span<std::byte> to) {
  auto* const other = others_[from].get();
  if (other == nullptr || to.size() < fewest_parts * part_) return read_process_memory(process, address, to);
  const std::unique_lock lock(other->reading, std::try_to_lock);
  if (!lock) return read_process_memory(process, address, to);
  const auto landing = [&](const read_parts::range& of) { return to.subspan(of.offset, of.size); };
  int pauses = 0;
  other->reads.run(
      address, to.size(),
      [&](const read_parts::range& of) { read_process_memory(process, address + of.offset, landing(of)); },
      [&](std::size_t place, const read_parts::range& of) {
        take(from, static_cast<std::uint32_t>(place), landing(of));
        pauses = 0;
      },
      [&] {
        if (++pauses < pauses_before_yields) {
          relax();
        } else {
          std::this_thread::yield();  // the helper may need this core
        }
      });
}

bool shared_copies::help() noexcept {
  bool any = false;
  for (std::size_t reader = 0; reader < others_.size(); ++reader)
    any = (others_[reader] && others_[reader]->helps.is_asked() && help(reader)) || any;
  return any;
}

bool shared_copies::help(std::size_t reader) noexcept {
  auto& other = *others_[reader];
  const std::unique_lock lock(other.helping, std::try_to_lock);
  if (!lock) return false;
  int copied = 0;
  while (copied < parts_a_look &&
         other.helps.help([&] { return reserve(no_channel, reader); },
                          [&](std::uint32_t place) { take_back(reader, place); },
                          [&](std::uint32_t place, std::uint64_t address, std::size_t size) {
                            std::memcpy(bytes(reader, self_, place), reinterpret_cast<const void*>(address),
                                        size);
                          }))
    ++copied;
  return copied != 0;
}

bool shared_copies::is_asked() const noexcept {
  return std::ranges::any_of(others_, [](const auto& each) { return each && each->helps.is_asked(); });
}

}  // namespace teff::detail
