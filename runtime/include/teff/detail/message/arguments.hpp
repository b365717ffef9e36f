// Arguments of a message, to bytes and back (message_parts says which types there are).
//
// Sender and receiver are the same program on the same kind of machine: numbers travel as they lie in memory.
// Each value takes one byte at least. So a spoilt count makes the reader allocate a multiple of the bytes
// that came at most.
#pragma once

#include <teff/detail/message/argument_kinds.hpp>
#include <teff/detail/platform/ranges.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace teff::detail {

// ---- To bytes ----

template <class T>
void put(byte_writer& to, const T& value);

template <class... Parts>
void put_parts(byte_writer& to, const Parts&... parts) {
  if constexpr (sizeof...(parts) == 0) {
    to.put("", 1);
  } else {
    (put<Parts>(to, parts), ...);
  }
}

// Their number, then the elements.
template <class T>
void put_elements(byte_writer& to, const T& all) {
  using element = std::ranges::range_value_t<T>;
  const auto count = static_cast<std::uint64_t>(std::ranges::size(all));
  to.put(&count, sizeof count);
  if constexpr (plain_elements<T>) {
    to.align(alignof(element));
    to.put(std::ranges::data(all), static_cast<std::size_t>(count) * sizeof(element));
  } else {
    for (const element& each : all) put(to, each);
  }
}

// Whether put() can write a T. It checks the parts of a T when it comes to them.
template <class T>
inline constexpr bool can_travel =
    has_message_parts<T> || plain<T> || is_boolean<T> || is_parts<T> || is_a<T, std::optional> ||
    is_a<T, std::variant> || plain_elements<T> || growing<T> || keyed<T> || with_fields<T>;

// Refuses at compile time a type that can not be an argument.
template <class T>
constexpr void expect_to_travel() {
  static_assert(can_travel<T> || !is_address<T>,
                "teff: an address means nothing on another rank: send what lies there, for several "
                "elements as a std::span<const T>");
  static_assert(can_travel<T> || !is_view<T>,
                "teff: the elements of a view have to travel by their bytes, and to need no alignment "
                "above 16: take a std::vector instead");
  static_assert(can_travel<T> || is_address<T> || is_view<T>,
                "teff: a type that can't be an argument of a message: specialise teff::message_parts for "
                "it (message.hpp)");
}

template <class T>
void put(byte_writer& to, const T& value) {
  constexpr auto part_by_part = [](byte_writer& bytes, const auto& parts) {
    std::apply([&](const auto&... each) { put_parts(bytes, each...); }, parts);
  };
  expect_to_travel<T>();
  if constexpr (has_message_parts<T>) {
    part_by_part(to, message_parts<T>::of(value));
  } else if constexpr (plain<T> || is_boolean<T>) {
    to.put(std::addressof(value), sizeof value);
  } else if constexpr (is_parts<T>) {
    part_by_part(to, value);
  } else if constexpr (is_a<T, std::optional>) {
    put(to, value.has_value());
    if (value.has_value()) put(to, *value);
  } else if constexpr (is_a<T, std::variant>) {
    put(to, static_cast<std::uint32_t>(value.index()));
    std::visit([&](const auto& held) { put(to, held); }, value);
  } else if constexpr (plain_elements<T> || growing<T> || keyed<T>) {
    put_elements(to, value);
  } else if constexpr (with_fields<T>) {
    visit_fields(value, [&](const auto&... fields) { put_parts(to, fields...); });
  }
}

// ---- And back ----

template <class T>
T take(byte_reader& from);

// Takes the parts that a tuple of type Parts would have. Braces: in their order.
template <class T, class Parts = T>
T take_parts(byte_reader& from) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    if constexpr (sizeof...(i) == 0) {
      from.take(1);
      return T{};
    } else {
      return T{take<std::tuple_element_t<i, Parts>>(from)...};
    }
  }(std::make_index_sequence<std::tuple_size_v<Parts>>{});
}

// The alternative of this index, which is not below i.
template <class Variant, std::size_t i = 0>
Variant take_variant(byte_reader& from, std::uint32_t index) {
  if constexpr (i == std::variant_size_v<Variant>) {
    byte_reader::refuse("name an alternative that a variant does not have");
  } else {
    if (index != i) return take_variant<Variant, i + 1>(from, index);
    return Variant(std::in_place_index<i>, take<std::variant_alternative_t<i, Variant>>(from));
  }
}

template <class T>
std::span<const T> take_elements(byte_reader& from) {
  const auto count = from.take_count(sizeof(T));
  from.align(alignof(T));
  return {reinterpret_cast<const T*>(from.take(count * sizeof(T))), count};
}

template <class T>
T take_view(byte_reader& from) {
  const auto elements = take_elements<std::remove_const_t<typename T::value_type>>(from);
  if constexpr (requires { T::extent; }) {
    static_assert(std::is_const_v<typename T::element_type>,
                  "teff: a handler may only read what a span of a message shows: take a std::span<const T>");
    if (T::extent != std::dynamic_extent && elements.size() != T::extent)
      byte_reader::refuse("have another number of elements than their span");
    return T(elements.begin(), elements.size());
  } else {
    return T(elements.data(), elements.size());
  }
}

template <class T>
T take_each(byte_reader& from) {
  T all;
  for (auto left = from.take_count(1); left != 0; --left) {
    if constexpr (keyed_values<T>) {
      auto key = take<typename T::key_type>(from);
      all.emplace(std::move(key), take<typename T::mapped_type>(from));
    } else if constexpr (keyed<T>) {
      all.insert(take<typename T::key_type>(from));
    } else {
      all.push_back(take<std::ranges::range_value_t<T>>(from));
    }
  }
  return all;
}

template <class T>
T take(byte_reader& from) {
  if constexpr (has_message_parts<T>) {
    using parts = std::remove_cvref_t<decltype(message_parts<T>::of(std::declval<const T&>()))>;
    return std::apply(
        [](auto&&... each) { return message_parts<T>::made_of(std::forward<decltype(each)>(each)...); },
        take<parts>(from));
  } else if constexpr (plain<T>) {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), from.take(sizeof(T)), sizeof(T));
    return std::bit_cast<T>(bytes);
  } else if constexpr (is_boolean<T>) {
    static_assert(sizeof(T) == 1);
    const auto byte = from.take_number<unsigned char>();
    if (byte > 1) byte_reader::refuse("have a bool that is neither true nor false");
    return static_cast<T>(byte != 0);
  } else if constexpr (is_parts<T>) {
    return take_parts<T>(from);
  } else if constexpr (is_a<T, std::optional>) {
    return take<bool>(from) ? T(take<typename T::value_type>(from)) : T();
  } else if constexpr (is_a<T, std::variant>) {
    return take_variant<T>(from, from.take_number<std::uint32_t>());
  } else if constexpr (is_view<T>) {
    return take_view<T>(from);
  } else if constexpr (plain_elements<T>) {
    const auto elements = take_elements<std::ranges::range_value_t<T>>(from);
    return T(elements.data(), elements.data() + elements.size());
  } else if constexpr (growing<T> || keyed<T>) {
    return take_each<T>(from);
  } else if constexpr (with_fields<T>) {
    using fields_travel = decltype(visit_fields(std::declval<const T&>(), [](const auto&... each) {
      return std::bool_constant<(can_travel<std::remove_cvref_t<decltype(each)>> && ...)>();
    }));
    static_assert(fields_travel::value,
                  "teff: a structure with a field that can't be an argument of a message: specialise "
                  "teff::message_parts for one of them (message.hpp)");
    return take_parts<T, decltype(fields_of(std::declval<const T&>()))>(from);
  }
}

// ---- All arguments of one message ----

// The arguments of a message that is sent: their size in bytes, and how to write them.
struct outgoing_arguments {
  std::size_t size;
  void (*write)(const void* of, std::byte* to);
  const void* of;
};
template <class... Arguments>
class outgoing : public outgoing_arguments {
 public:
  // The arguments outlive this object, which is not copied.
  explicit outgoing(const Arguments&... arguments)
      : outgoing_arguments{0,
                           [](const void* arguments_of, std::byte* to) {
                             static_cast<const outgoing*>(arguments_of)->put_into(byte_writer(to));
                           },
                           this},
        all_(arguments...) {
    size = put_into(byte_writer());
  }
  outgoing(const outgoing&) = delete;
  outgoing& operator=(const outgoing&) = delete;

 private:
  std::size_t put_into(byte_writer bytes) const {
    std::apply([&](const Arguments&... each) { (put<Arguments>(bytes, each), ...); }, all_);
    return bytes.size();
  }
  std::tuple<const Arguments&...> all_;
};

// Throws malformed_message. Views in the result point into `from`.
template <class... Arguments>
[[nodiscard]] std::tuple<Arguments...> take_arguments(std::span<const std::byte> from) {
  byte_reader bytes(from);
  std::tuple<Arguments...> all{take<Arguments>(bytes)...};
  bytes.expect_end();
  return all;
}

}  // namespace teff::detail
