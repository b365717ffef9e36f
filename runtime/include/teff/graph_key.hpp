// What task_graph needs of a key: a hash, and how it is printed in errors.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ostream>
#include <ranges>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <teff/detail/fields.hpp>

namespace teff {

namespace detail {

// Multiplies and folds: every bit of the word reaches the low ones, which choose the bucket.
inline std::uint64_t mixed(std::uint64_t word) noexcept {
  word *= 0x9e3779b97f4a7c15U;
  return word ^ word >> 32;
}

template <class Key>
concept tuple_like = requires { std::tuple_size<Key>::value; };

// Equal keys are equal bytes.
template <class Key>
concept plain_bytes = std::has_unique_object_representations_v<Key> && sizeof(Key) <= 64;

}  // namespace detail

// The hash of a key: a specialisation, or another class of this form as task_graph's second argument,
// replaces it. Made for integers, and for arrays, tuples and structures of integers without padding;
// everything else is hashed by std::hash.
template <class Key>
struct key_hash {
  std::size_t operator()(const Key& key) const noexcept {
    if constexpr (detail::plain_bytes<Key>) {
      std::uint64_t hash = 0;
      for (std::size_t at = 0; at < sizeof(Key); at += sizeof hash) {
        std::uint64_t word = 0;
        std::memcpy(&word, reinterpret_cast<const char*>(&key) + at,
                    sizeof(Key) - at < sizeof word ? sizeof(Key) - at : sizeof word);
        hash = detail::mixed(hash ^ word);
      }
      return hash;
    } else if constexpr (detail::tuple_like<Key>) {
      return std::apply(
          [](const auto&... parts) {
            std::uint64_t hash = 0;
            ((hash = detail::mixed(hash ^ key_hash<std::remove_cvref_t<decltype(parts)>>{}(parts))), ...);
            return hash;
          },
          key);
    } else {
      return detail::mixed(std::hash<Key>{}(key));
    }
  }
};

namespace detail {

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

// By operator<<; a type that has none by its parts, where it shows them.
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

}  // namespace detail
}  // namespace teff
