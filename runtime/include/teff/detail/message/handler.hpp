// A function of the program as the handler of a message: which arguments it takes, and how it gets them.
#pragma once

#include <teff/detail/message/arguments.hpp>
#include <teff/detail/message/communicator_core.hpp>
#include <teff/detail/scheduler/task_name.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/named.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace teff::detail {

template <class... Parameters>
struct parameters {};

struct unknown_parameters {};

// The parameters of a function, or of a class with one operator().
template <class F>
struct parameters_of {
  using type = unknown_parameters;
};
template <class Result, class... Parameters>
struct parameters_of<Result (*)(Parameters...)> {
  using type = parameters<Parameters...>;
};
template <class Result, class... Parameters>
struct parameters_of<Result (*)(Parameters...) noexcept> : parameters_of<Result (*)(Parameters...)> {};
template <class Class, class Result, class... Parameters>
struct parameters_of<Result (Class::*)(Parameters...)> : parameters_of<Result (*)(Parameters...)> {};
template <class Class, class Result, class... Parameters>
struct parameters_of<Result (Class::*)(Parameters...) const> : parameters_of<Result (*)(Parameters...)> {};
template <class Class, class Result, class... Parameters>
struct parameters_of<Result (Class::*)(Parameters...) noexcept> : parameters_of<Result (*)(Parameters...)> {};
template <class Class, class Result, class... Parameters>
struct parameters_of<Result (Class::*)(Parameters...) const noexcept>
    : parameters_of<Result (*)(Parameters...)> {};
template <class F>
  requires requires { &F::operator(); }
struct parameters_of<F> : parameters_of<decltype(&F::operator())> {};
template <literal Name, class F>
struct parameters_of<named_task<Name, F>> : parameters_of<F> {};

template <class F>
struct handler_parameters {
  using type = typename parameters_of<std::decay_t<F>>::type;
  static_assert(!std::is_same_v<type, unknown_parameters>,
                "teff: a message is typed by its handler: a function, or a class with one operator(), whose "
                "parameters have types of their own, not auto");
};
template <class F>
using handler_parameters_t = typename handler_parameters<F>::type;

// Nobody else has the argument: it can be moved from, but changing it would change nothing.
template <class Parameter>
inline constexpr bool can_receive =
    !std::is_lvalue_reference_v<Parameter> || std::is_const_v<std::remove_reference_t<Parameter>>;

// The name of a type in words, for errors; the same in every program of one compiler's ABI.
[[nodiscard]] std::string type_words(const std::type_info& type);

template <class... Arguments>
std::string all_type_words() {
  std::string words;
  ((words += (words.empty() ? "" : ", ") + type_words(typeid(Arguments))), ...);
  return words;
}

template <class... Parameters, class F>
registered_message make_message(parameters<Parameters...> /*of*/, bool ordered, F handler) {
  static_assert(
      (can_receive<Parameters> && ...),
      "teff: a handler takes its arguments by value or as const&: there is nobody who would see a change");
  // std::function wants to copy it.
  auto shared = std::make_shared<F>(std::move(handler));
  return {all_type_words<argument<Parameters>...>(), ordered, [shared](std::span<const std::byte> bytes) {
            auto all = take_arguments<argument<Parameters>...>(bytes);
            const traced_span span(event_kind::run, name_of<F>());
            std::apply([&](auto&... each) { std::invoke(*shared, static_cast<Parameters&&>(each)...); }, all);
          }};
}

}  // namespace teff::detail
