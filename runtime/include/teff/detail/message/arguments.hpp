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
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace teff::detail {

// ---- To bytes: `Bytes` is a byte_count or a byte_writer ----

template <class T, class Bytes>
void put(Bytes& to, const T& value);

template <class Bytes, class Elements>
void put_elements(Bytes& to, const Elements& elements) {
  using element = std::ranges::range_value_t<Elements>;
  const auto count = static_cast<std::uint64_t>(std::ranges::size(elements));
  to.put(&count, sizeof count);
  to.align(alignof(element));
  to.put(std::ranges::data(elements), static_cast<std::size_t>(count) * sizeof(element));
}

template <class Bytes, class... Parts>
void put_parts(Bytes& to, const Parts&... parts) {
  if constexpr (sizeof...(parts) == 0) {
    to.put("", 1);
  } else {
    (put<Parts>(to, parts), ...);
  }
}

template <class Bytes, class T>
void put_each(Bytes& to, const T& all) {
  const auto count = static_cast<std::uint64_t>(std::ranges::size(all));
  to.put(&count, sizeof count);
  for (const std::ranges::range_value_t<T>& each : all) put(to, each);
}

// Whether put() can write a T. It checks the parts of a T when it comes to them.
template <class T>
inline constexpr bool can_travel =
    has_message_parts<T> ||
    (!is_address<T> && (plain<T> || is_boolean<T>() || is_parts<T> || is_optional<T> || is_variant<T> ||
                        plain_elements<T> || (!is_view<T> && (growing<T> || keyed<T> || with_fields<T>))));

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

template <class T, class Bytes>
void put(Bytes& to, const T& value) {
  constexpr auto part_by_part = [](Bytes& bytes, const auto& parts) {
    std::apply([&](const auto&... each) { put_parts(bytes, each...); }, parts);
  };
  if constexpr (has_message_parts<T>) {
    part_by_part(to, message_parts<T>::of(value));
  } else if constexpr (plain<T> || is_boolean<T>()) {
    to.put(std::addressof(value), sizeof value);
  } else if constexpr (is_address<T>) {
    expect_to_travel<T>();
  } else if constexpr (is_parts<T>) {
    part_by_part(to, value);
  } else if constexpr (is_optional<T>) {
    put(to, value.has_value());
    if (value.has_value()) put(to, *value);
  } else if constexpr (is_variant<T>) {
    put(to, static_cast<std::uint32_t>(value.index()));
    std::visit([&](const auto& held) { put(to, held); }, value);
  } else if constexpr (plain_elements<T>) {
    put_elements(to, value);
  } else if constexpr (is_view<T>) {
    expect_to_travel<T>();
  } else if constexpr (growing<T> || keyed<T>) {
    put_each(to, value);
  } else if constexpr (with_fields<T>) {
    visit_fields(value, [&](const auto&... fields) { put_parts(to, fields...); });
  } else {
    expect_to_travel<T>();
  }
}

// ---- And back ----

template <class T>
T take(byte_reader& from);

// Braces: the parts are taken in their order.
template <class Made, class... Parts>
Made take_parts(byte_reader& from) {
  if constexpr (sizeof...(Parts) == 0) {
    from.take(1);
    return Made{};
  } else {
    return Made{take<Parts>(from)...};
  }
}

template <class T>
struct made_of_parts;
template <class First, class Second>
struct made_of_parts<std::pair<First, Second>> {
  static std::pair<First, Second> take_from(byte_reader& from) {
    return take_parts<std::pair<First, Second>, First, Second>(from);
  }
};
template <class... Parts>
struct made_of_parts<std::tuple<Parts...>> {
  static std::tuple<Parts...> take_from(byte_reader& from) {
    return take_parts<std::tuple<Parts...>, Parts...>(from);
  }
};
template <class Part, std::size_t size>
struct made_of_parts<std::array<Part, size>> {
  static std::array<Part, size> take_from(byte_reader& from) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      if constexpr (size == 0) {
        from.take(1);
        return std::array<Part, 0>{};
      } else {
        return std::array<Part, size>{{(static_cast<void>(i), take<Part>(from))...}};
      }
    }(std::make_index_sequence<size>{});
  }
};

template <class Structure, class Fields>
struct made_of_fields;
template <class Structure, class... Fields>
struct made_of_fields<Structure, std::tuple<Fields...>> {
  static Structure take_from(byte_reader& from) { return Structure{take<Fields>(from)...}; }
};

template <class Variant>
Variant take_variant(byte_reader& from) {
  const auto index = from.take_number<std::uint32_t>();
  return [&]<std::size_t... i>(std::index_sequence<i...>) -> Variant {
    using maker = Variant (*)(byte_reader&);
    static constexpr maker makers[] = {[](byte_reader& bytes) {
      return Variant(std::in_place_index<i>, take<std::variant_alternative_t<i, Variant>>(bytes));
    }...};
    if (index >= sizeof...(i)) byte_reader::refuse("name an alternative that a variant does not have");
    return makers[index](from);
  }(std::make_index_sequence<std::variant_size_v<Variant>>{});
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
bool take_boolean(byte_reader& from) {
  static_assert(sizeof(T) == 1);
  const auto byte = from.take_number<unsigned char>();
  if (byte > 1) byte_reader::refuse("have a bool that is neither true nor false");
  return byte != 0;
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
  } else if constexpr (is_boolean<T>()) {
    return static_cast<T>(take_boolean<T>(from));
  } else if constexpr (is_parts<T>) {
    return made_of_parts<T>::take_from(from);
  } else if constexpr (is_optional<T>) {
    return take<bool>(from) ? T(take<typename T::value_type>(from)) : T();
  } else if constexpr (is_variant<T>) {
    return take_variant<T>(from);
  } else if constexpr (is_view<T>) {
    return take_view<T>(from);
  } else if constexpr (plain_elements<T>) {
    const auto elements = take_elements<std::ranges::range_value_t<T>>(from);
    return T(elements.data(), elements.data() + elements.size());
  } else if constexpr (growing<T> || keyed<T>) {
    return take_each<T>(from);
  } else if constexpr (with_fields<T>) {
    return made_of_fields<T, decltype(fields_of(std::declval<const T&>()))>::take_from(from);
  }
}

// ---- All arguments of one message ----

template <class... Arguments>
[[nodiscard]] std::size_t bytes_of(const Arguments&... arguments) {
  byte_count count;
  (put<Arguments>(count, arguments), ...);
  return count.size();
}

// `to` has room for bytes_of(arguments...).
template <class... Arguments>
void put_arguments(std::byte* to, const Arguments&... arguments) {
  byte_writer bytes(to);
  (put<Arguments>(bytes, arguments), ...);
}

// Throws malformed_message. Views in the result point into `from`.
template <class... Arguments>
[[nodiscard]] std::tuple<Arguments...> take_arguments(std::span<const std::byte> from) {
  byte_reader bytes(from);
  std::tuple<Arguments...> all{take<Arguments>(bytes)...};
  bytes.expect_end();
  return all;
}

}  // namespace teff::detail
