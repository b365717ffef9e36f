// How keys are compared, and how they are printed in errors.
#pragma once

#include <teff/detail/graph/fields.hpp>
#include <teff/detail/graph/key_hashing.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <exception>
#include <ostream>
#include <ranges>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace teff::detail {

template <class Key>
inline constexpr bool is_integer_array = false;
template <std::integral Integer, std::size_t size>
inline constexpr bool is_integer_array<std::array<Integer, size>> = size <= 8;

// ==, but for a short array it is a few instructions, not a call of memcmp().
template <class Key>
bool equal_keys(const Key& a, const Key& b) {
  if constexpr (is_integer_array<Key>) {
    bool equal = true;
    for (std::size_t i = 0; i < a.size(); ++i) equal &= a[i] == b[i];
    return equal;
  } else {
    return a == b;
  }
}

// Prints by operator<<; a type without one, by its parts if they are accessible.
template <class Key>
void print_key(std::ostream& out, const Key& key) {
  [[maybe_unused]] auto print_part = [&out, separator = ""](const auto& part) mutable {
    out << std::exchange(separator, ", ");
    print_key(out, part);
  };
  if constexpr (std::same_as<Key, signed char> || std::same_as<Key, unsigned char>) {
    out << static_cast<int>(key);  // std::int8_t and std::uint8_t are numbers
  } else if constexpr (requires { out << key; }) {
    out << key;
  } else if constexpr (std::is_enum_v<Key>) {
    print_key(out, static_cast<std::underlying_type_t<Key>>(key));
  } else if constexpr (tuple_like<Key>) {
    out << '(';
    std::apply([&](const auto&... parts) { (print_part(parts), ...); }, key);
    out << ')';
  } else if constexpr (std::ranges::input_range<const Key>) {
    out << '(';
    for (const auto& part : key) print_part(part);
    out << ')';
  } else if constexpr (with_fields<Key>) {
    print_key(out, fields_of(key));
  } else {
    out << "a key without operator<<";
  }
}

template <class Key>
std::string key_text(const Key& key) {
  std::ostringstream out;
  print_key(out, key);
  return out.str();
}

// Keys that wait for fulfilments that nobody will make, for an error that names some of them.
struct leftovers {
  // How many keys an error names.
  static constexpr std::size_t most_names = 8;

  std::size_t count = 0;
  std::vector<std::string> names;  // of some, in words

  // Null if there are none.
  [[nodiscard]] std::exception_ptr error() const;
};

}  // namespace teff::detail
