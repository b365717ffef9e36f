// How keys are hashed, compared, and printed in errors: by the first way that fits the type.
#pragma once

#include <teff/detail/graph/fields.hpp>
#include <teff/detail/platform/ranges.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace teff {

template <class Key>
struct key_hash;

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

// Without padding, whose bytes have no value.
template <class Key>
concept plain_bytes = compared_by_bytes<Key> && std::has_unique_object_representations_v<Key>;

template <class Key>
concept plain_structure = std::is_class_v<Key> && std::has_unique_object_representations_v<Key>;

template <class Key>
concept with_std_hash = requires(const Key& key) {
  { std::hash<Key>{}(key) } -> std::convertible_to<std::size_t>;
};

// A range whose == compares the elements in order. Not so: an unordered container, a string with other
// traits; and a path's elements are paths again.
template <class Key>
concept sequence =
    std::ranges::forward_range<const Key> && !std::same_as<std::ranges::range_value_t<const Key>, Key> &&
    !requires { typename Key::hasher; } && !requires { typename Key::traits_type; };

// Two to four integers, each smaller than a word.
template <class Key>
consteval bool few_small_integers() {
  if constexpr (tuple_like<Key>) {
    constexpr auto size = std::tuple_size_v<Key>;
    return size >= 2 && size <= 4 && []<std::size_t... i>(std::index_sequence<i...>) {
      return ((std::integral<std::tuple_element_t<i, Key>> &&
               sizeof(std::tuple_element_t<i, Key>) < sizeof(std::uint64_t)) &&
              ...);
    }(std::make_index_sequence<size>{});
  }
  return false;
}

template <class Key>
std::size_t hash_of_parts(const Key& key) noexcept {
  return std::apply(
      [](const auto&... parts) {
        const auto word_of = []<class Part>(const Part& part) -> std::uint64_t {
          if constexpr (std::is_integral_v<Part>) return static_cast<std::uint64_t>(part);
          return key_hash<Part>{}(part);
        };
        std::uint64_t hash = 0;
        ((hash = mixed(hash ^ word_of(parts))), ...);
        return hash;
      },
      key);
}

template <class Key>
std::size_t hash_of_bytes(const Key& key) noexcept {
  // One by one: a key was just put together of them, and a load of all at once would wait for the stores.
  if constexpr (few_small_integers<Key>()) return hash_of_parts(key);
  std::uint64_t hash = 0;
  for (std::size_t at = 0; at < sizeof(Key); at += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(std::addressof(key)) + at,
                sizeof(Key) - at < sizeof word ? sizeof(Key) - at : sizeof word);
    hash = mixed(hash ^ word);
  }
  return hash;
}

template <class>
inline constexpr bool is_hashable = false;  // where key_hash knows no way

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
    if constexpr (!compared_by_bytes<fields> || few_small_integers<fields>())
      return hash_of_parts(fields_of(key));
  }
  return hash_of_bytes(key);
}

// ---- Comparison and text ----

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

// The function print(out, what) prints a text to `out`, which is returned.
[[nodiscard]] std::string printed(void (*print)(std::ostream& out, const void* what), const void* what);

template <class Key>
std::string key_text(const Key& key) {
  return printed([](std::ostream& out, const void* what) { print_key(out, *static_cast<const Key*>(what)); },
                 std::addressof(key));
}

}  // namespace detail
}  // namespace teff
