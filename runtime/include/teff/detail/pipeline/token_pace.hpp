// Whether tokens take long enough that several workers should carry them.
#pragma once

#include <teff/detail/platform/processor_clock.hpp>

#include <cstdint>

namespace teff::detail {

// A token that takes less time from the first stage to the last is not worth a second worker. With a second
// worker, the stages' data and the turns go from core to core with each token.
inline constexpr std::int64_t token_nanoseconds_worth_sharing = 1000;

// The pace of a worker that carries all tokens by itself. It reads the clock only if another worker asks for
// a share. If tokens are short, it does so once in a few stages.
template <class Clock = processor_clock>
class lone_pace {
 public:
  void ended_token() noexcept { ++tokens_; }

  // Whether to share, between two stages, when another worker asks. A single long measurement may be due to a
  // cold cache. So either two in a row are long, or one is very long.
  [[nodiscard]] bool worth_sharing() noexcept {
    if (--until_look_ != 0) return false;
    until_look_ = 1;
    const auto now = Clock::now();
    const auto took = now - looked_;
    const auto tokens = tokens_ - tokens_then_;
    if (tokens == 0) return took >= Clock::in(surely_long);
    looked_ = now;
    tokens_then_ = tokens_;
    if (took >= tokens * Clock::in(surely_long)) return true;
    const bool is_long = took >= tokens * Clock::in(token_nanoseconds_worth_sharing);
    if (is_long && was_long_) return true;
    was_long_ = is_long;
    if (!is_long) until_look_ = stages_between_looks;
    return false;
  }

 private:
  static constexpr std::int64_t surely_long = 20 * token_nanoseconds_worth_sharing;
  static constexpr int stages_between_looks = 8;

  std::int64_t tokens_ = 0;
  std::int64_t looked_ = Clock::now();
  std::int64_t tokens_then_ = 0;  // when it looked
  int until_look_ = 1;
  bool was_long_ = false;
};

// The pace of each of several workers that carry tokens of one pipeline.
template <class Clock = processor_clock>
class shared_pace {
 public:
  // `stages`: the number of the pipeline's stages. `between_looks`: how many stages this worker runs between
  // two looks at the clock.
  explicit shared_pace(unsigned stages, unsigned between_looks = 32) noexcept
      : stages_(stages), between_looks_(between_looks), helped_(Clock::now()), looked_(helped_) {}

  void restart() noexcept {
    helped_ = looked_ = Clock::now();
    ran_ = 0;
  }
  void ran_stage() noexcept { ++ran_; }

  // Whether this worker should quit if there is another walk: tokens are short, or no other worker has walked
  // (`lonely`) for some time.
  [[nodiscard]] bool leaves(auto lonely) noexcept {
    if (ran_ < between_looks_) return false;
    const auto now = Clock::now();
    const auto took = now - looked_;
    const auto ran = static_cast<std::int64_t>(ran_);
    looked_ = now;
    ran_ = 0;
    if (took * stages_ < ran * Clock::in(token_nanoseconds_worth_sharing)) return true;
    if (!lonely()) helped_ = now;
    return now - helped_ >= Clock::in(patience);
  }

 private:
  // In nanoseconds: longer than a sleeping worker takes to come.
  static constexpr std::int64_t patience = 200'000;

  std::int64_t stages_;
  unsigned between_looks_;
  unsigned ran_ = 0;
  std::int64_t helped_;  // when another worker walked, as far as the last look knows
  std::int64_t looked_;
};

}  // namespace teff::detail
