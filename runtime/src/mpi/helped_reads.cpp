#include "mpi/helped_reads.hpp"

#include "mpi/process_memory.hpp"
#include "platform/relax.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <thread>

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

std::size_t helped_reads::segment_bytes(std::size_t ranks) noexcept {
  return deposits::slot_bytes(ranks) == 0 ? 0 : ranks * sizeof(shared);
}

void helped_reads::prepare(std::byte* segment, std::size_t ranks) {
  if (segment_bytes(ranks) == 0) return;
  for (std::size_t i = 0; i < ranks; ++i) ::new (segment + i * sizeof(shared)) shared;
}

helped_reads::shared& helped_reads::of(std::byte* segment, std::size_t reader) noexcept {
  return *std::launder(reinterpret_cast<shared*>(segment + reader * sizeof(shared)));
}

helped_reads::helped_reads(const std::vector<std::byte*>& segments, std::size_t self,
                           detail::deposits& deposits)
    : deposits_(deposits),
      part_(std::min(most_of_part, detail::deposits::slot_bytes(segments.size()))),
      others_(segments.size()) {
  if (part_ == 0) return;
  for (std::size_t each = 0; each < segments.size(); ++each) {
    if (each == self) continue;
    others_[each] = std::make_unique<other_rank>(of(segments[each], self), of(segments[self], each), part_);
  }
}

void helped_reads::read(std::size_t from, pid_t process, std::uint64_t address, std::span<std::byte> to) {
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
        deposits_.take(from, static_cast<std::uint32_t>(place), landing(of));
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

bool helped_reads::help() noexcept {
  bool any = false;
  for (std::size_t reader = 0; reader < others_.size(); ++reader)
    any = (others_[reader] && others_[reader]->helps.is_asked() && help(reader)) || any;
  return any;
}

bool helped_reads::help(std::size_t reader) noexcept {
  auto& other = *others_[reader];
  const std::unique_lock lock(other.helping, std::try_to_lock);
  if (!lock) return false;
  int copied = 0;
  while (copied < parts_a_look &&
         other.helps.help([&] { return deposits_.reserve(no_channel, reader); },
                          [&](std::uint32_t place) { deposits_.take_back(reader, place); },
                          [&](std::uint32_t place, std::uint64_t address, std::size_t size) {
                            const auto* const from =
                                reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(address));
                            deposits_.write(reader, place, {from, size});
                          }))
    ++copied;
  return copied != 0;
}

bool helped_reads::is_asked() const noexcept {
  return std::ranges::any_of(others_, [](const auto& each) { return each && each->helps.is_asked(); });
}

}  // namespace teff::detail
