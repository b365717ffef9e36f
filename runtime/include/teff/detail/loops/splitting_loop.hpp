// A loop in progress: it runs in order, block by block, and gives half of what is left to a worker that asks.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/loops/indices.hpp>
#include <teff/detail/loops/pace.hpp>
#include <teff/detail/scheduler/on_workers.hpp>
#include <teff/join.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace teff::detail {

// Runs the iterations [first, last) of a loop whose body is a `Body`. The loop is cut in pieces when thieves
// ask (lazy binary splitting: Tzannes et al., 2010). Nothing is cut in advance, so a loop that is not shared
// costs no more than a plain loop.
//
// `Blocks` makes the pieces: `blocks.piece()` is an object of this piece alone, and its call with (first,
// last) runs a block. It may return false: the rest of the piece is not wanted.
template <loop_index Index, class Body, class Blocks>
class splitting_loop {
 public:
  splitting_loop(Blocks& blocks, std::uint64_t grain, remembered_pace& pace) noexcept
      : blocks_(blocks), grain_(grain), pace_(pace) {}

  void run(Index first, Index last) {
    auto piece = blocks_.piece();
    run(piece, first, last, loop_pace<>(pace_, grain_, self.is_alone));
  }

 private:
  // An exception stops the other pieces at once. The waiting worker throws it only when they have ended.
  template <class Piece>
  void run(Piece& piece, Index first, Index last, loop_pace<> pace) {
    undo_if_thrown([&] { run_blocks(piece, first, last, pace); },
                   [this] { stop_.store(true, std::memory_order_relaxed); });
  }

  template <class Piece>
  void run_blocks(Piece& piece, Index first, Index last, loop_pace<> pace) {
    const std::uint64_t all = loop_distance(first, last);
    std::uint64_t left = all;
    while (!pace.wants_a_share(left)) [[likely]] {
      const auto block = std::min(left, pace.block_after(all - left));
      const Index next = loop_advance(first, block);
      if constexpr (std::same_as<decltype(piece(first, next)), bool>) {
        if (!piece(first, next)) return pace.tell(pace_);
      } else {
        piece(first, next);
      }
      left -= block;
      if (left == 0) return pace.tell_at_end(pace_, static_cast<std::int64_t>(block));
      if (stop_.load(std::memory_order_relaxed)) [[unlikely]]
        return;
      first = next;
      pace.look(static_cast<std::int64_t>(block));
    }
    pace.tell(pace_);
    split(piece, first, last, pace);
  }

  // Not gnu::cold: half of the loop is compiled into it, which would not be vectorised then.
  template <class Piece>
  [[gnu::noinline]] void split(Piece& piece, Index first, Index last, const loop_pace<>& pace) {
    const auto count = loop_distance(first, last);
    constexpr auto aligned = loop_pace<>::aligned;
    const auto unit = static_cast<decltype(count)>(grain_ != 0 ? grain_ : count < 4 * aligned ? 1 : aligned);
    const auto units = count / unit + (count % unit != 0);
    const Index middle = loop_advance(first, (units / 2 + units % 2) * unit);
    join([&, this] { run(piece, first, middle, pace); },
         as_part_of<Body>([this, middle, last] { run(middle, last); }));
  }

  Blocks& blocks_;
  std::uint64_t grain_;  // 0: by measured cost
  remembered_pace& pace_;
  std::atomic<bool> stop_{false};  // an iteration threw: blocks that have not begun are dropped
};

template <class Body, loop_index Index, class Blocks>
void run_loop(Index first, Index last, Blocks blocks, std::uint64_t grain) {
  if (first == last) return;
  splitting_loop<Index, Body, Blocks> loop(blocks, grain, pace_of<Body>(loop_distance(first, last)));
  on_workers([&] {
    const traced_span span(event_kind::loop, name_of<Body>());
    loop.run(first, last);
  });
}

}  // namespace teff::detail
