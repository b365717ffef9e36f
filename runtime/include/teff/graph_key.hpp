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

#include <teff/detail/graph/fields.hpp>

namespace teff {

namespace detail {

// Multiplies and folds: every bit of the word reaches the low ones, which choose the bucket.
inline std::uint64_t mixed(std::uint64_t word) noexcept {
  word *= 0x9e3779b97f4a7c15U;
  return word ^ word >> 32;
}

template <class Key>
concept tuple_like = requires { std::tuple_size<Key>::value; };

// Whether == compares just the bytes. It may hold for a class, too, but nothing shows that.
template <class Key>
inline constexpr bool compared_by_bytes =
    std::is_integral_v<Key> || std::is_enum_v<Key> || std::is_pointer_v<Key>;
template <class Part, std::size_t size>
inline constexpr bool compared_by_bytes<std::array<Part, size>> = compared_by_bytes<Part>;
template <class First, class Second>
inline constexpr bool compared_by_bytes<std::pair<First, Second>> =
    compared_by_bytes<First> && compared_by_bytes<Second>;
template <class... Parts>
inline constexpr bool compared_by_bytes<std::tuple<Parts...>> = (compared_by_bytes<Parts> && ...);

// Without padding, which would have bytes of its own.
template <class Key>
concept plain_bytes = compared_by_bytes<Key> && std::has_unique_object_representations_v<Key>;

template <class Key>
concept plain_structure = std::is_class_v<Key> && std::has_unique_object_representations_v<Key>;

template <class Key>
concept with_std_hash = requires(const Key& key) {
  { std::hash<Key>{}(key) } -> std::convertible_to<std::size_t>;
};

// A range whose == compares the elements in order. Not so: an unordered container, a string with traits of
// its own; and a path's elements are paths again.
template <class Key>
concept sequence =
    std::ranges::forward_range<const Key> && !std::same_as<std::ranges::range_value_t<const Key>, Key> &&
    !requires { typename Key::hasher; } && !requires { typename Key::traits_type; };

template <class Key>
std::size_t hash_of_bytes(const Key& key) noexcept {
  std::uint64_t hash = 0;
  for (std::size_t at = 0; at < sizeof(Key); at += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(&key) + at,
                sizeof(Key) - at < sizeof word ? sizeof(Key) - at : sizeof word);
    hash = mixed(hash ^ word);
  }
  return hash;
}

template <class Key>
std::size_t hash_of_parts(const Key& key) noexcept;
template <class Key>
std::size_t hash_of_elements(const Key& key) noexcept;
template <plain_structure Key>
std::size_t hash_of_structure(const Key& key) noexcept;

template <class>
inline constexpr bool is_hashable = false;  // where key_hash knows no way

}  // namespace detail

// The hash of a key, equal for keys that == finds equal. The first of these that fits:
//
// - integers, enumerations, pointers, and arrays, pairs and tuples of them without padding: by their bytes
// - what std::hash is specialised for: by that
// - arrays, pairs and tuples: by the key_hash of their parts
// - structures without padding: by their bytes, or by the key_hash of their fields if one of these asks for
//   it, which shows in up to six fields without an array or a base class. Their == must compare all of them,
//   as a defaulted one does; else specialise std::hash
// - ranges whose == compares the elements in order, as std::vector's: by the key_hash of the elements
//
// A specialisation of std::hash or of key_hash, or another class of this form as task_graph's second
// argument, serves any other key.
template <class Key>
struct key_hash {
  std::size_t operator()(const Key& key) const noexcept {
    if constexpr (detail::plain_bytes<Key>) {
      return detail::hash_of_bytes(key);
    } else if constexpr (detail::with_std_hash<Key>) {
      return detail::mixed(std::hash<Key>{}(key));
    } else if constexpr (detail::tuple_like<Key>) {
      return detail::hash_of_parts(key);
    } else if constexpr (detail::plain_structure<Key>) {
      return detail::hash_of_structure(key);
    } else if constexpr (detail::sequence<Key>) {
      return detail::hash_of_elements(key);
    } else {
      static_assert(
          detail::is_hashable<Key>,
          "the key of a teff::task_graph has no hash: specialise std::hash or teff::key_hash for its "
          "type, or pass a hash as second argument");
    }
  }
};

namespace detail {

template <class Key>
std::size_t hash_of_parts(const Key& key) noexcept {
  return std::apply(
      [](const auto&... parts) {
        std::uint64_t hash = 0;
        ((hash = mixed(hash ^ key_hash<std::remove_cvref_t<decltype(parts)>>{}(parts))), ...);
        return hash;
      },
      key);
}

template <class Key>
std::size_t hash_of_elements(const Key& key) noexcept {
  std::uint64_t hash = 0;
  for (const std::ranges::range_value_t<const Key>& element : key)
    hash = mixed(hash ^ key_hash<std::ranges::range_value_t<const Key>>{}(element));
  return hash;
}

// By its bytes, unless a field can be seen whose == may compare something else.
template <plain_structure Key>
std::size_t hash_of_structure(const Key& key) noexcept {
  if constexpr (with_fields<Key>) {
    using fields = decltype(fields_of(key));
    if constexpr (!compared_by_bytes<fields>) return key_hash<fields>{}(fields_of(key));
  }
  return hash_of_bytes(key);
}

}  // namespace detail

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
