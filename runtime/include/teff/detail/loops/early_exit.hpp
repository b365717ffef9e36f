// Loops that end when something is found.
#pragma once

#include <teff/detail/loops/blocks.hpp>
#include <teff/detail/loops/splitting_loop.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>

namespace teff::detail {

// The lowest position that was found. Relaxed: a worker that reads it late runs a block in vain. The loop's
// end makes the last value known.
using found_position = std::atomic<std::uint64_t>;
inline constexpr std::uint64_t found_nowhere = std::numeric_limits<std::uint64_t>::max();

// Any position will do: a find in one piece ends all. Else only those above it end.
enum class wanted : bool { lowest, any };

template <loop_index Index, class Predicate, wanted What>
struct finding_blocks {
  Index origin;
  Predicate& predicate;
  found_position& found;

  [[nodiscard]] finding_blocks piece() const noexcept { return *this; }

  bool operator()(Index first, Index last) const {
    const std::uint64_t position = loop_distance(origin, first);
    if (found.load(std::memory_order_relaxed) <= position) return false;
    const std::uint64_t count = loop_distance(first, last);
    body_at_hand<Predicate, typename iteration_of<Index>::type> at_hand = predicate;
    const std::uint64_t k = first_in_block(first, last, count, at_hand);
    if (k == count) return true;
    const std::uint64_t mine = What == wanted::any ? 0 : position + k;
    auto lowest = found.load(std::memory_order_relaxed);
    while (mine < lowest && !found.compare_exchange_weak(lowest, mine, std::memory_order_relaxed)) {
    }
    return false;
  }

 private:
  // `count` if there is none. The standard library's search is unrolled, which a compiler does not do here.
  static std::uint64_t first_in_block(Index first, Index last, std::uint64_t count, auto& at_hand) {
    if constexpr (std::integral<Index> || has_wide_difference<Index>) {
      std::uint64_t k = 0;
      while (k < count && !call_at<bool>(at_hand, first)) ++k, static_cast<void>(++first);
      return k;
    } else {
      return loop_distance(first, std::find_if(first, last, std::ref(at_hand)));
    }
  }
};

// found_nowhere if the predicate holds nowhere.
template <wanted What, loop_index Index, class Predicate>
std::uint64_t find_position(Index first, Index last, Predicate& predicate) {
  found_position found{found_nowhere};
  run_loop<std::remove_const_t<Predicate>>(
      first, last, finding_blocks<Index, Predicate, What>{first, predicate, found}, 0);
  return found.load(std::memory_order_relaxed);
}

template <loop_index Index, class Predicate>
Index find_first(Index first, Index last, Predicate& predicate) {
  const auto position = find_position<wanted::lowest>(first, last, predicate);
  return position == found_nowhere ? last : loop_advance(first, position);
}

template <loop_index Index, class Predicate>
bool holds_somewhere(Index first, Index last, Predicate& predicate) {
  return find_position<wanted::any>(first, last, predicate) != found_nowhere;
}

template <loop_index Index, class Predicate>
bool fails_somewhere(Index first, Index last, Predicate& predicate) {
  const auto fails = std::not_fn(std::ref(predicate));
  return holds_somewhere(first, last, fails);
}

}  // namespace teff::detail
