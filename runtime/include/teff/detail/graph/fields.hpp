// The fields of a plain structure: so that a key is printed whose type has no operator<<, and a structure can
// be sent in a message.
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace teff::detail {

// It stands for the initialiser of a field of any type.
struct any_field {
  template <class Field>
  operator Field() const;  // NOLINT(google-explicit-constructor)
};

// Stands for the initialiser of a base class.
template <class Structure>
struct any_base {
  template <class Base>
    requires(std::is_base_of_v<Base, Structure> && !std::same_as<Base, Structure>)
  operator Base() const;  // NOLINT(google-explicit-constructor)
};

template <class Structure, std::size_t... i>
consteval bool takes_plain(std::index_sequence<i...>) {
  return requires { Structure{(static_cast<void>(i), any_field{})...}; };
}
template <class Structure, std::size_t n>
consteval bool takes_braces() {
  if constexpr (n == 1) {
    return requires { Structure{{}}; };
  } else if constexpr (n == 2) {
    return requires { Structure{{}, {}}; };
  } else if constexpr (n == 3) {
    return requires { Structure{{}, {}, {}}; };
  } else if constexpr (n == 4) {
    return requires { Structure{{}, {}, {}, {}}; };
  } else if constexpr (n == 5) {
    return requires { Structure{{}, {}, {}, {}, {}}; };
  } else {
    return requires { Structure{{}, {}, {}, {}, {}, {}}; };
  }
}

// How many initialisers a structure takes at most. 0: that is not the number of its fields, because it has an
// array, each of whose elements takes an initialiser without braces; or there are too many.
template <class Structure, std::size_t most = 6>
consteval std::size_t field_count() {
  constexpr auto plain = [](auto n) { return takes_plain<Structure>(std::make_index_sequence<n.value>{}); };
  if constexpr (most == 0) {
    return 0;
  } else if constexpr (plain(std::integral_constant<std::size_t, most + 1>{})) {
    return 0;
  } else if constexpr (plain(std::integral_constant<std::size_t, most>{})) {
    return takes_braces<Structure, most>() ? most : 0;
  } else {
    return field_count<Structure, most - 1>();
  }
}

// A structure whose fields fields_of() gives.
template <class Structure>
concept with_fields = std::is_aggregate_v<Structure> && !requires { Structure{any_base<Structure>{}}; } &&
                      field_count<Structure>() > 0;

// Calls visit(field...) with references to the fields, and returns what it returns.
template <with_fields Structure, class Visit>
decltype(auto) visit_fields(const Structure& structure, Visit visit) {
  constexpr auto n = field_count<Structure>();
  if constexpr (n == 1) {
    const auto& [a] = structure;
    return visit(a);
  } else if constexpr (n == 2) {
    const auto& [a, b] = structure;
    return visit(a, b);
  } else if constexpr (n == 3) {
    const auto& [a, b, c] = structure;
    return visit(a, b, c);
  } else if constexpr (n == 4) {
    const auto& [a, b, c, d] = structure;
    return visit(a, b, c, d);
  } else if constexpr (n == 5) {
    const auto& [a, b, c, d, e] = structure;
    return visit(a, b, c, d, e);
  } else {
    const auto& [a, b, c, d, e, f] = structure;
    return visit(a, b, c, d, e, f);
  }
}

// Copies of the fields, as a tuple.
template <with_fields Structure>
auto fields_of(const Structure& structure) {
  return visit_fields(structure, [](const auto&... each) { return std::make_tuple(each...); });
}

}  // namespace teff::detail
