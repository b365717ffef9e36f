#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace teff::messages {

/// The number of messages that a rank has received, and a sum in which every bit counts and the order does
/// not.
struct tally {
  std::int64_t count = 0;
  std::uint64_t sum = 0;

  void add(std::uint64_t value) noexcept;
  friend bool operator==(const tally&, const tally&) = default;
};

/// A message: its number, then words that depend on their place.
class contents {
 public:
  explicit contents(std::size_t bytes);

  [[nodiscard]] std::span<const std::byte> numbered(std::uint64_t number) {
    words_.front() = number;
    return std::as_bytes(std::span<const std::uint64_t>(words_));
  }
  /// The buffer in which such a message may be received.
  [[nodiscard]] std::span<std::byte> buffer() { return std::as_writable_bytes(std::span(words_)); }

 private:
  std::vector<std::uint64_t> words_;
};

/// The number of a message that is whole.
[[nodiscard]] std::uint64_t number_of(std::span<const std::byte> message);
/// A hash of all its bytes, in their places.
[[nodiscard]] std::uint64_t fingerprint(std::span<const std::byte> message);

}  // namespace teff::messages
