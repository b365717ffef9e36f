// MPI counts by int. So a large message goes in parts, which have one tag and keep their order.
#pragma once

#include <algorithm>
#include <cstddef>

namespace teff::detail {

inline constexpr std::size_t bytes_of_part = std::size_t{1} << 30;

// Of a message of so many bytes; an empty message has one part.
constexpr std::size_t parts_of(std::size_t size) noexcept {
  return size == 0 ? 1 : (size + bytes_of_part - 1) / bytes_of_part;
}

// Calls use(offset, size) for each part.
template <class Use>
void each_part(std::size_t size, Use use) {
  std::size_t at = 0;
  do {
    const auto some = std::min(size - at, bytes_of_part);
    use(at, static_cast<int>(some));
    at += some;
  } while (at != size);
}

}  // namespace teff::detail
