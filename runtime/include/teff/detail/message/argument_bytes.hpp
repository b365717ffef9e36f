// Counts, writes and reads the bytes of a message's arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace teff::detail {

// A message's arguments begin at a multiple of this, so that views in them are aligned.
inline constexpr std::size_t argument_alignment = 16;

[[nodiscard]] constexpr std::size_t aligned_up(std::size_t at, std::size_t alignment) noexcept {
  return (at + alignment - 1) / alignment * alignment;
}

// Writes arguments to memory; without memory, only counts their bytes.
class byte_writer {
 public:
  explicit byte_writer(std::byte* to = nullptr) noexcept : to_(to) {}
  void put(const void* from, std::size_t size) noexcept {
    if (to_ != nullptr && size != 0) std::memcpy(to_ + at_, from, size);
    at_ += size;
  }
  void align(std::size_t alignment) noexcept {
    const auto gap = aligned_up(at_, alignment) - at_;
    if (to_ != nullptr) std::memset(to_ + at_, 0, gap);
    at_ += gap;
  }
  [[nodiscard]] std::size_t size() const noexcept { return at_; }

 private:
  std::byte* to_;
  std::size_t at_ = 0;
};

// Reads arguments from bytes that may be anything: throws malformed_message, and reads nothing beyond them.
class byte_reader {
 public:
  // `from` begins at a multiple of argument_alignment.
  explicit byte_reader(std::span<const std::byte> from) noexcept : from_(from) {}

  const std::byte* take(std::size_t size) {
    if (size > left()) [[unlikely]]
      refuse("end too early");
    const auto* const taken = from_.data() + at_;
    at_ += size;
    return taken;
  }
  void align(std::size_t alignment) { take(aligned_up(at_, alignment) - at_); }
  template <class Number>
  Number take_number() {
    Number number;
    std::memcpy(&number, take(sizeof number), sizeof number);
    return number;
  }
  // Takes the number of the elements that follow, each of `least` bytes at least.
  std::size_t take_count(std::size_t least) {
    const auto count = take_number<std::uint64_t>();
    if (count > left() / least) [[unlikely]]
      refuse("end too early");
    return static_cast<std::size_t>(count);
  }
  void expect_end() const {
    if (left() != 0) [[unlikely]]
      refuse("go on where they should end");
  }
  // Throws malformed_message: "the arguments of a message WHAT".
  [[noreturn]] static void refuse(const char* what);

 private:
  [[nodiscard]] std::size_t left() const noexcept { return from_.size() - at_; }

  std::span<const std::byte> from_;
  std::size_t at_ = 0;
};

}  // namespace teff::detail
