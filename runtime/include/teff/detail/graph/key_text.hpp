// How keys are compared, and how they are printed in errors.
#pragma once

#include <teff/detail/graph/fields.hpp>
#include <teff/detail/graph/key_hashing.hpp>
#include <teff/detail/platform/ranges.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

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

// Returns what print(out, what) prints.
[[nodiscard]] std::string printed(void (*print)(std::ostream& out, const void* what), const void* what);

template <class Key>
std::string key_text(const Key& key) {
  return printed([](std::ostream& out, const void* what) { print_key(out, *static_cast<const Key*>(what)); },
                 std::addressof(key));
}

}  // namespace teff::detail
