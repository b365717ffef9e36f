// Finds out whether a program makes the same tasks again and again (README.md, "Repetition").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace teff::detail {

// The tasks that a creator has made, by digests of their bodies' types and their accesses.
class flow_history {
 public:
  static constexpr std::size_t longest = 8192;  // of all periods

  void add(std::uint32_t digest) noexcept {
    const auto now = made_++;
    // Depends on the last eight tasks: the digests of older ones have been shifted out.
    last_few_ = (last_few_ << 8U) + std::uint64_t{digest} * 0x9e3779b97f4a7c15U;
    const auto mixed = last_few_ * 0x9e3779b97f4a7c15U;
    sight& before = seen_[mixed >> shift];
    const auto few = static_cast<std::uint32_t>(mixed);
    if (period_ != 0 && digests_[(now - period_) % longest] == digest) {
      ++repeated_;
    } else {
      repeated_ = 0;
      const std::uint32_t distance = now - before.task;
      period_ = before.last_few == few && distance < longest ? distance : 0;
    }
    before = {few, now};
    digests_[now % longest] = digest;
  }
  // If the last tasks were the same as those so many tasks before; else 0.
  [[nodiscard]] std::size_t period() const noexcept { return period_; }
  // So many in a row were.
  [[nodiscard]] std::uint64_t repeated() const noexcept { return repeated_; }
  void begin_anew() noexcept {
    period_ = 0;
    repeated_ = 0;
  }

 private:
  struct sight {
    std::uint32_t last_few;
    std::uint32_t task;
  };
  static constexpr unsigned shift = 64 - 13;
  static_assert(longest == std::size_t{1} << (64 - shift));

  std::uint32_t made_ = 0;
  std::uint64_t last_few_ = 0;
  std::uint32_t period_ = 0;
  std::uint64_t repeated_ = 0;
  std::array<std::uint32_t, longest> digests_;
  std::array<sight, longest> seen_{};  // where the same tasks were made last
};

}  // namespace teff::detail
