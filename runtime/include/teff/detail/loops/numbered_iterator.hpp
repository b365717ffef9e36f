// Iterators for the algorithms of namespace std, made of iterators that only std::ranges takes.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>

namespace teff::detail {

// Whether it gives random access by the rules of before C++20, too. Iterators of many views do not: they make
// the elements, or their difference is wider than any integer.
template <class It>
concept classic_iterator = requires {
  typename std::iterator_traits<It>::iterator_category;
} && std::derived_from<typename std::iterator_traits<It>::iterator_category, std::random_access_iterator_tag>;

// Element `at`, counted from `origin`.
template <std::random_access_iterator It>
struct numbered_iterator {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::iter_value_t<It>;
  using difference_type = std::ptrdiff_t;
  using reference = std::iter_reference_t<It>;
  using pointer = std::add_pointer_t<reference>;

  It origin{};
  difference_type at = 0;

  reference operator*() const { return (*this)[0]; }
  reference operator[](difference_type n) const {
    return origin[static_cast<std::iter_difference_t<It>>(at + n)];
  }
  numbered_iterator& operator+=(difference_type n) {
    at += n;
    return *this;
  }
  numbered_iterator& operator-=(difference_type n) { return *this += -n; }
  numbered_iterator& operator++() { return *this += 1; }
  numbered_iterator& operator--() { return *this -= 1; }
  numbered_iterator operator++(int) { return {origin, at++}; }
  numbered_iterator operator--(int) { return {origin, at--}; }

  friend numbered_iterator operator+(numbered_iterator i, difference_type n) { return i += n; }
  friend numbered_iterator operator+(difference_type n, numbered_iterator i) { return i += n; }
  friend numbered_iterator operator-(numbered_iterator i, difference_type n) { return i -= n; }
  friend difference_type operator-(const numbered_iterator& a, const numbered_iterator& b) {
    return a.at - b.at;
  }
  friend bool operator==(const numbered_iterator& a, const numbered_iterator& b) { return a.at == b.at; }
  friend std::strong_ordering operator<=>(const numbered_iterator& a, const numbered_iterator& b) {
    return a.at <=> b.at;
  }
};

}  // namespace teff::detail
