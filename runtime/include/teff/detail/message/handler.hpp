// A function of the program as the handler of a message: which arguments it takes, and how it gets them.
#pragma once

#include <teff/detail/message/arguments.hpp>
#include <teff/detail/message/message_access.hpp>
#include <teff/detail/scheduler/task_name.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/named.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
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
template <class Result, bool Nothrow, class... Parameters>
struct parameters_of<Result (*)(Parameters...) noexcept(Nothrow)> {
  using type = parameters<Parameters...>;
};
template <class Class, class Result, bool Nothrow, class... Parameters>
struct parameters_of<Result (Class::*)(Parameters...) noexcept(Nothrow)> {
  using type = parameters<Parameters...>;
};
template <class Class, class Result, bool Nothrow, class... Parameters>
struct parameters_of<Result (Class::*)(Parameters...) const noexcept(Nothrow)> {
  using type = parameters<Parameters...>;
};
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

// An argument belongs to its handler alone: the handler may move from it, but a change through a reference
// would be lost.
template <class Parameter>
inline constexpr bool can_receive =
    !std::is_lvalue_reference_v<Parameter> || std::is_const_v<std::remove_reference_t<Parameter>>;

// The name of a type in its spelling_of(); the same in all programs of one compiler.
[[nodiscard]] std::string type_words(const char* spelling);

template <class... Arguments>
std::string all_type_words() {
  std::string words;
  ((words += (words.empty() ? "" : ", ") + type_words(spelling_of<Arguments>())), ...);
  return words;
}

// A function of the program that takes arguments as bytes. std::function requires that it can be copied.
template <class F, class... Parameters>
class handler_of_bytes {
  static_assert(
      (can_receive<Parameters> && ...),
      "teff: a handler takes its arguments by value or as const&: there is nobody who would see a change");

 public:
  explicit handler_of_bytes(F function) : function_(std::make_shared<F>(std::move(function))) {}
  // The function takes `more` behind the arguments. Throws malformed_message.
  template <class... More>
  decltype(auto) operator()(std::span<const std::byte> bytes, More... more) const {
    auto all = take_arguments<argument<Parameters>...>(bytes);
    return std::apply(
        [&](auto&... each) -> decltype(auto) {
          return std::invoke(*function_, static_cast<Parameters&&>(each)..., std::move(more)...);
        },
        all);
  }

 private:
  std::shared_ptr<F> function_;
};

template <class... Parameters, class F>
registered_message make_message(parameters<Parameters...> /*of*/, bool ordered, F handler) {
  (expect_to_travel<argument<Parameters>>(), ...);
  return {all_type_words<argument<Parameters>...>(), ordered,
          [call = handler_of_bytes<F, Parameters...>(std::move(handler))](std::span<const std::byte> bytes) {
            const traced_span span(event_kind::handler, name_of<F>());
            call(bytes);
          }};
}

// ---- Large messages ----

// The element and the arguments of a large message, from its first function: from the function's result, and
// from its parameters but the last, the number of elements.
template <class Landed, class Before, class... After>
struct large_parameters {
  static constexpr bool fits = false;
};
template <class T, class... Before>
struct large_parameters<std::span<T>, parameters<Before...>, std::size_t> {
  static constexpr bool fits = plain<T> && !std::is_const_v<T>;
  using element = T;
  using arguments = parameters<Before...>;
};
template <class Landed, class... Before, class Next, class Later, class... After>
struct large_parameters<Landed, parameters<Before...>, Next, Later, After...>
    : large_parameters<Landed, parameters<Before..., Next>, Later, After...> {};

template <class Land, class Parameters>
struct large_parameters_of;
template <class Land, class... Parameters>
struct large_parameters_of<Land, parameters<Parameters...>>
    : large_parameters<std::invoke_result_t<Land&, Parameters...>, parameters<>, Parameters...> {};

[[noreturn]] void refuse_landing(std::size_t expected, std::size_t landed);

template <class T, class... Parameters, class Land, class Arrived>
registered_message make_large_message(parameters<Parameters...> /*of*/, Land land, Arrived arrived) {
  static_assert(
      std::is_invocable_v<Arrived&, Parameters..., std::span<T>>,
      "teff: the second function of a large message takes the arguments of the first one, with what "
      "that returns instead of the number of elements");
  auto functions = std::make_shared<large_functions>();
  functions->land = [call = handler_of_bytes<Land, Parameters...>(std::move(land))](
                        std::span<const std::byte> bytes, std::size_t size) {
    const std::span<T> landed = call(bytes, size / sizeof(T));
    if (landed.size_bytes() != size) refuse_landing(size / sizeof(T), landed.size());
    return std::as_writable_bytes(landed);
  };
  functions->arrived = [call = handler_of_bytes<Arrived, Parameters...>(std::move(arrived))](
                           std::span<const std::byte> bytes, std::span<std::byte> data) {
    const traced_span span(event_kind::handler, name_of<Arrived>());
    call(bytes, std::span<T>(reinterpret_cast<T*>(data.data()), data.size() / sizeof(T)));
  };
  registered_message made;
  made.arguments = "large " + all_type_words<argument<Parameters>..., T>();
  made.large = std::move(functions);
  return made;
}

}  // namespace teff::detail
