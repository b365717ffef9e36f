// A loop in progress: it runs in order, block by block, and gives half of what is left to a worker that asks.
#pragma once

#include <teff/detail/loops/indices.hpp>
#include <teff/detail/loops/pace.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/task_name.hpp>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <utility>

namespace teff::detail {

// A loop is cut in pieces when thieves ask (lazy binary splitting: Tzannes et al., 2010). Nothing is cut in
// advance, so a loop that is not shared costs no more than a plain loop. This class is compiled once for all
// bodies, and numbers the iterations from 0.
class splitting_loop {
 public:
  // On any thread, and for traces; `count` is at least 1.
  void run(std::uint64_t count);

 protected:
  // Iterations [first, last) of a piece. Returns false if the rest of the piece is not wanted.
  using block = bool (*)(void* piece, std::uint64_t first, std::uint64_t last);

  // `name`: of the body, in traces.
  splitting_loop(std::uint64_t grain, remembered_pace& pace, const char* name) noexcept
      : grain_(grain), pace_(pace), name_(name) {}
  ~splitting_loop() = default;

  void run_in_blocks(block run, void* piece, std::uint64_t first, std::uint64_t last);

 private:
  // Makes a piece, an object of these iterations alone, and calls run_in_blocks() with it.
  virtual void run_piece(std::uint64_t first, std::uint64_t last) = 0;
  void run_blocks(block run, void* piece, std::uint64_t first, std::uint64_t last, loop_pace<>& pace);
  void split(block run, void* piece, std::uint64_t first, std::uint64_t last, loop_pace<>& pace);

  std::uint64_t grain_;  // 0: by measured cost
  remembered_pace& pace_;
  const char* name_;
  std::atomic<bool> stop_{false};  // an iteration threw: blocks that have not begun are dropped
};

// `blocks.piece()` makes the object of a piece. Its call with two indices runs a block, and may return
// whether the rest of the piece is wanted.
template <loop_index Index, class Blocks>
class loop_of_blocks final : public splitting_loop {
 public:
  loop_of_blocks(Index origin, Blocks& blocks, std::uint64_t grain, remembered_pace& pace,
                 const char* name) noexcept
      : splitting_loop(grain, pace, name), origin_(origin), blocks_(blocks) {}

  void run_piece(std::uint64_t first, std::uint64_t last) override {
    numbered_piece piece{blocks_.piece(), origin_};
    run_in_blocks(run_block, &piece, first, last);
  }

 private:
  struct numbered_piece {
    decltype(std::declval<Blocks&>().piece()) blocks;
    Index origin;
  };

  static bool run_block(void* piece, std::uint64_t first, std::uint64_t last) {
    auto& [blocks, origin] = *static_cast<numbered_piece*>(piece);
    const Index from = loop_advance(origin, first);
    const Index to = loop_advance(origin, last);
    if constexpr (std::same_as<decltype(blocks(from, to)), bool>) {
      return blocks(from, to);
    } else {
      blocks(from, to);
      return true;
    }
  }

  Index origin_;
  Blocks& blocks_;
};

template <class Body, loop_index Index, class Blocks>
void run_loop(Index first, Index last, Blocks blocks, std::uint64_t grain) {
  const std::uint64_t count = loop_distance(first, last);
  if (count == 0) return;
  loop_of_blocks<Index, Blocks> loop(first, blocks, grain, pace_of<Body>(count), name_of<Body>());
  // Also a worker that is traced is asked().
  if (self.head() == nullptr || self.asked()) [[unlikely]]
    return loop.run(count);
  loop.run_piece(0, count);
}

}  // namespace teff::detail
