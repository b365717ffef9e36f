// A scan: one worker makes it in one pass, and others can help.
#pragma once

#include <teff/detail/loops/splitting_loop.hpp>
#include <teff/detail/loops/tree_reduction.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace teff::detail {

// The elements lie in chunks, whose length follows from their number. One worker is the front: it goes from
// chunk to chunk, knows the sum of all before each, and writes the results at once. A worker that wants a
// share adds up the chunks of the second half of what is left, until the front gets there. The front steps
// over chunks that were added up: their results are written last, by all.
//
// The result must not depend on the number of workers. So wherever that could make a difference, each chunk
// begins with the sum of the chunks before it, each added up by itself.
template <bool Inclusive, class T, class In, class Out, class Op>
class chunked_scan {
 public:
  chunked_scan(In in, std::uint64_t count, Out out, Op& op)
      : in_(in),
        out_(out),
        op_(op),
        count_(count),
        chunk_(usual_block(count)),
        sums_(chunks()),
        befores_(chunks()) {}

  void run(std::optional<T> init) {
    auto& remembered = pace_of<Op>(count_);
    loop_pace<> pace(remembered);
    advance_front(0, chunks(), init, pace);
    pace.tell(remembered);
    auto write_late = [this](std::uint64_t c) { write(c, std::move(befores_[c])); };
    run_loop<Op>(stepped_over_.begin(), stepped_over_.end(),
                 blocks_of<std::vector<std::uint64_t>::iterator, decltype(write_late)>{write_late}, 1);
  }

 private:
  [[nodiscard]] std::uint64_t chunks() const noexcept { return 1 + (count_ - 1) / chunk_; }
  [[nodiscard]] std::uint64_t begin_of(std::uint64_t c) const noexcept { return c * chunk_; }
  [[nodiscard]] std::uint64_t end_of(std::uint64_t c) const noexcept {
    return std::min(count_, (c + 1) * chunk_);
  }

  // `before` is the sum of all before chunk c; in the end, of all before `end`.
  void advance_front(std::uint64_t c, std::uint64_t end, std::optional<T>& before, loop_pace<>& pace) {
    for (; c < end; ++c) {
      if (sums_[c]) {
        stepped_over_.push_back(c);
        befores_[c] = before;
        before = before ? T(std::invoke(op_, std::move(*before), *sums_[c])) : *sums_[c];
        continue;
      }
      if (end - c > 1 && pace.wants_a_share(end_of(end - 1) - begin_of(c))) [[unlikely]] {
        const auto middle = c + (end - c + 1) / 2;
        share(c, middle, end, before, pace);
        c = middle - 1;
        continue;
      }
      before = write(c, std::move(before));
      pace.ran(end_of(c) - begin_of(c));
    }
  }

  [[gnu::noinline]] void share(std::uint64_t c, std::uint64_t middle, std::uint64_t end,
                               std::optional<T>& before, loop_pace<>& pace) {
    std::atomic<bool> reached{false};  // relaxed: only a hint that more would be in vain
    struct sets {
      std::atomic<bool>& flag;
      ~sets() { flag.store(true, std::memory_order_relaxed); }
    };
    join(
        [&, this] {
          const sets at_the_end{reached};
          advance_front(c, middle, before, pace);
        },
        as_part_of<Op>([this, middle, end, &reached] {
          for (auto ahead = middle; ahead < end && !reached.load(std::memory_order_relaxed); ++ahead) {
            if (!sums_[ahead]) sums_[ahead] = sum(ahead);
          }
        }));
  }

  T sum(std::uint64_t c) {
    auto i = loop_advance(in_, begin_of(c));
    const auto last = loop_advance(in_, end_of(c));
    T total(*i);
    while (++i != last) total = std::invoke(op_, std::move(total), *i);
    return total;
  }

  // Writes the results of the chunk; returns the sum of all before the next one.
  T write(std::uint64_t c, std::optional<T> before) {
    constexpr bool order_shows = std::floating_point<T>;  // then the chunk is added up by itself, too
    auto i = loop_advance(in_, begin_of(c));
    const auto last = loop_advance(in_, end_of(c));
    auto to = loop_advance(out_, begin_of(c));
    T element(*i);  // read before something is written there: the output may be the input
    const std::optional<T> start = order_shows ? before : std::nullopt;
    [[maybe_unused]] std::conditional_t<order_shows, T, std::monostate> total{};
    if constexpr (order_shows) total = element;
    if constexpr (!Inclusive) *to = *before;
    T running = before ? T(std::invoke(op_, std::move(*before), std::move(element))) : std::move(element);
    if constexpr (Inclusive) *to = running;
    for (++i, static_cast<void>(++to); i != last; ++i, static_cast<void>(++to)) {
      T next(*i);
      if constexpr (order_shows) total = std::invoke(op_, total, next);
      if constexpr (!Inclusive) *to = running;
      running = std::invoke(op_, std::move(running), std::move(next));
      if constexpr (Inclusive) *to = running;
    }
    if constexpr (order_shows) {
      if (start) return std::invoke(op_, *start, total);
    }
    return running;
  }

  In in_;
  Out out_;
  Op& op_;
  std::uint64_t count_;
  std::uint64_t chunk_;
  std::vector<std::optional<T>> sums_;     // of chunks that were added up ahead of the front
  std::vector<std::optional<T>> befores_;  // what is before those
  std::vector<std::uint64_t> stepped_over_;
};

}  // namespace teff::detail
