// The iterations that a chunk of a worksharing task runs.
#pragma once

#include <cstddef>
#include <iterator>

namespace teff {

// The iterations [first, last) of a loop.
struct range {
  std::ptrdiff_t first;
  std::ptrdiff_t last;

  // Its iterations, for a range-based for.
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::ptrdiff_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::ptrdiff_t*;
    using reference = std::ptrdiff_t;
    constexpr explicit iterator(std::ptrdiff_t at = 0) noexcept : at_(at) {}
    constexpr std::ptrdiff_t operator*() const noexcept { return at_; }
    constexpr iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    constexpr iterator operator++(int) noexcept { return iterator(at_++); }
    friend constexpr bool operator==(const iterator&, const iterator&) = default;

   private:
    std::ptrdiff_t at_;
  };
  [[nodiscard]] constexpr iterator begin() const noexcept { return iterator(first); }
  [[nodiscard]] constexpr iterator end() const noexcept { return iterator(last); }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return static_cast<std::size_t>(last - first); }
};

}  // namespace teff
