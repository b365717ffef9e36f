#include <teff/detail/exceptions.hpp>
#include <teff/detail/loops/splitting_loop.hpp>
#include <teff/detail/scheduler/on_workers.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/join.hpp>

#include <algorithm>

namespace teff::detail {

void splitting_loop::run(std::uint64_t count) {
  on_workers([&] {
    const traced_span span(event_kind::loop, name_);
    run_piece(0, count);
  });
}

void splitting_loop::run_in_blocks(block run, void* piece, std::uint64_t first, std::uint64_t last) {
  loop_pace<> pace(pace_, grain_, self.is_alone);
  run_blocks(run, piece, first, last, pace);
}

// An exception stops the other pieces at once. The waiting worker throws it only when they have ended.
void splitting_loop::run_blocks(block run, void* piece, std::uint64_t first, std::uint64_t last,
                                loop_pace<>& pace) {
  undo_if_thrown(
      [&] {
        const std::uint64_t begin = first;
        while (!pace.wants_a_share(last - first)) [[likely]] {
          const auto count = std::min(last - first, pace.block_after(first - begin));
          if (!run(piece, first, first + count)) return pace.tell(pace_);
          first += count;
          if (first == last) return pace.tell_at_end(pace_, static_cast<std::int64_t>(count));
          if (stop_.load(std::memory_order_relaxed)) [[unlikely]]
            return;
          pace.look(static_cast<std::int64_t>(count));
        }
        pace.tell(pace_);
        split(run, piece, first, last, pace);
      },
      [this] { stop_.store(true, std::memory_order_relaxed); });
}

void splitting_loop::split(block run, void* piece, std::uint64_t first, std::uint64_t last,
                           loop_pace<>& pace) {
  const auto count = last - first;
  constexpr auto aligned = loop_pace<>::aligned;
  const std::uint64_t unit = grain_ != 0 ? grain_ : count < 4 * aligned ? 1 : aligned;
  const auto units = count / unit + (count % unit != 0);
  // A few very long iterations are dealt out one by one, in their order. The worker that takes the rest
  // offers what is behind its first iteration. If a loop began with its longest iterations, its first half
  // would end long after the second.
  constexpr std::uint64_t few = 32;
  const bool deals_out = count <= few && pace.iteration_takes(blocks_of_an_iteration_to_deal_out);
  const auto middle = first + (deals_out ? 1 : units / 2 + units % 2) * unit;
  struct later_part {
    splitting_loop& loop;
    std::uint64_t first;
    std::uint64_t last;
    void operator()() const { loop.run_piece(first, last); }
    [[nodiscard]] const char* task_name() const noexcept { return loop.name_; }
  };
  join([&, this] { run_blocks(run, piece, first, middle, pace); }, later_part{*this, middle, last});
}

}  // namespace teff::detail
