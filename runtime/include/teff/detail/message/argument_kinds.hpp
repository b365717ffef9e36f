// Sorts the types of arguments by the way in which they travel.
#pragma once

#include <teff/detail/graph/fields.hpp>
#include <teff/detail/message/argument_bytes.hpp>
#include <teff/detail/platform/ranges.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace teff {
template <class T>
struct message_parts;  // message.hpp
}  // namespace teff

namespace teff::detail {

template <class T>
concept has_message_parts = requires(const T& value) { message_parts<T>::of(value); };

template <class T>
inline constexpr bool is_view = false;
template <class Element, std::size_t extent>
inline constexpr bool is_view<std::span<Element, extent>> = true;
template <class Character, class Traits>
inline constexpr bool is_view<std::basic_string_view<Character, Traits>> = true;

// Whether T is a std::optional, a std::variant, ...
template <class T, template <class...> class Of>
inline constexpr bool is_a = false;
template <template <class...> class Of, class... Each>
inline constexpr bool is_a<Of<Each...>, Of> = true;

template <class T>
inline constexpr bool is_array = false;
template <class Part, std::size_t size>
inline constexpr bool is_array<std::array<Part, size>> = true;

template <class T>
inline constexpr bool is_parts =  // taken apart by std::get
    is_a<T, std::pair> || is_a<T, std::tuple> || is_array<T>;

// Addresses mean nothing on another rank.
template <class T>
inline constexpr bool is_address =
    std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T>;
template <class T>
inline constexpr bool is_address<std::reference_wrapper<T>> = true;
template <class T>
inline constexpr bool is_address<std::initializer_list<T>> = true;

// A type with two values; any other byte is no value of it.
template <class T>
inline constexpr bool is_boolean = std::same_as<T, bool>;
template <class T>
  requires std::is_enum_v<T>
inline constexpr bool is_boolean<T> = std::same_as<std::underlying_type_t<T>, bool>;

template <class T>
consteval bool is_plain();

template <class Fields>
inline constexpr bool all_plain = false;
template <class... Fields>
inline constexpr bool all_plain<std::tuple<Fields...>> = (is_plain<Fields>() && ...);

// A type that travels by its bytes, since any bytes are a value of it.
template <class T>
consteval bool is_plain() {
  if constexpr (is_array<T>) {
    return std::tuple_size_v<T> != 0 && is_plain<typename T::value_type>();
  } else if constexpr (has_message_parts<T> || !std::is_trivially_copyable_v<T> || is_view<T> ||
                       is_a<T, std::optional> || is_a<T, std::variant> || is_parts<T> || is_address<T> ||
                       is_boolean<T>) {
    return false;
  } else if constexpr (std::is_class_v<T> && with_fields<T>) {
    return all_plain<decltype(fields_of(std::declval<const T&>()))>;
  } else {
    return true;
  }
}
template <class T>
concept plain = is_plain<T>();

// Contiguous elements, each of them plain: copied at once.
template <class T>
concept plain_elements =
    std::ranges::contiguous_range<const T> && std::ranges::sized_range<const T> &&
    plain<std::ranges::range_value_t<T>> && alignof(std::ranges::range_value_t<T>) <= argument_alignment &&
    (is_view<T> || requires(const std::ranges::range_value_t<T>* at) { T(at, at); });

// A container that grows at its end.
template <class T>
concept growing = std::ranges::sized_range<const T> && std::default_initializable<T> &&
                  requires(T all, std::ranges::range_value_t<T> each) { all.push_back(std::move(each)); };

template <class T>
concept keyed =
    std::ranges::sized_range<const T> && std::default_initializable<T> && requires { typename T::key_type; };
template <class T>
concept keyed_values = keyed<T> && requires { typename T::mapped_type; };

// The type of the argument for a handler's parameter.
template <class Parameter>
using argument = std::remove_cvref_t<Parameter>;

}  // namespace teff::detail
