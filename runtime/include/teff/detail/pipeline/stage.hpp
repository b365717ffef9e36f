// A stage of a pipeline, and the type of token that it hands to the next stage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>

namespace teff::detail {

enum class stage_mode : std::uint8_t { serial, serial_out_of_order, parallel };

template <stage_mode Mode, class F>
struct pipeline_stage {
  static constexpr stage_mode mode = Mode;
  using function_type = F;
  // The type that workers call: const for a parallel stage, which several of them may call at once.
  using called_type = std::conditional_t<Mode == stage_mode::parallel, const F, F>;

  F function;
};

template <class T>
inline constexpr bool is_stage = false;
template <stage_mode Mode, class F>
inline constexpr bool is_stage<pipeline_stage<Mode, F>> = true;

template <class T>
struct token_of_source {
  using type = void;
};
template <class T>
struct token_of_source<std::optional<T>> {
  using type = T;
};

// The type of token that the first stage makes; void if it is no source.
template <class Stage>
using source_token_t = typename token_of_source<std::remove_cvref_t<typename std::conditional_t<
    std::is_invocable_v<typename Stage::function_type&>, std::invoke_result<typename Stage::function_type&>,
    std::type_identity<void>>::type>>::type;

// Whether stages fit each other, the first of which receives an `In`. A static_assert names the first misfit.
// It is the only message, because the rest is not looked at.
template <class In, class Stage, class... Rest>
consteval bool stages_fit() {
  using called = typename Stage::called_type;
  constexpr bool takes = std::is_invocable_v<called&, In>;
  constexpr bool takes_if_mutable = std::is_invocable_v<typename Stage::function_type&, In>;
  static_assert(takes || takes_if_mutable,
                "teff::parallel_pipeline: a stage can't be called with what the stage before it returns. It "
                "takes that by value, by const reference or by rvalue reference.");
  static_assert(
      takes || !takes_if_mutable,
      "teff::parallel_pipeline: several workers call a parallel stage at once, so it must be callable "
      "as const: a lambda that is not mutable. Else make it serial.");
  if constexpr (takes) {
    using out = std::invoke_result_t<called&, In>;
    constexpr bool is_last = sizeof...(Rest) == 0;
    constexpr bool is_value = !std::is_void_v<out> && !std::is_reference_v<out>;
    static_assert(!is_last || std::is_void_v<out>,
                  "teff::parallel_pipeline: the last stage returns something, which would be lost.");
    static_assert(is_last || !std::is_void_v<out>,
                  "teff::parallel_pipeline: only the last stage may return void. Another one returns what "
                  "the stage after it is called with.");
    static_assert(is_last || !std::is_reference_v<out>,
                  "teff::parallel_pipeline: a stage returns a reference. Let it return a value, or a pointer "
                  "to what lives elsewhere.");
    static_assert(is_last || !is_value || std::is_move_constructible_v<out>,
                  "teff::parallel_pipeline: what a stage returns must be movable.");
    if constexpr (is_last) {
      return std::is_void_v<out>;
    } else if constexpr (is_value && std::is_move_constructible_v<out>) {
      return stages_fit<std::remove_cv_t<out>, Rest...>();
    }
  }
  return false;
}

// Whether stages make a whole pipeline. Fails a static_assert as stages_fit() does.
template <class Source, class... Rest>
consteval bool is_pipeline() {
  constexpr bool stages = is_stage<Source> && (is_stage<Rest> && ...);
  constexpr bool count_fits = sizeof...(Rest) > 0 && sizeof...(Rest) < 64;
  static_assert(
      stages,
      "teff::parallel_pipeline: pass each stage as teff::serial(f), teff::serial_out_of_order(f) or "
      "teff::parallel(f).");
  static_assert(
      sizeof...(Rest) > 0,
      "teff::parallel_pipeline: there must be two stages at least, one that makes the tokens and one "
      "that takes them.");
  static_assert(sizeof...(Rest) < 64, "teff::parallel_pipeline: there may be 64 stages at most.");
  if constexpr (stages && count_fits) {
    constexpr bool one_by_one = Source::mode != stage_mode::parallel;
    static_assert(one_by_one,
                  "teff::parallel_pipeline: the first stage makes the tokens one after the other: it must be "
                  "teff::serial.");
    using token = source_token_t<Source>;
    static_assert(!std::is_void_v<token>,
                  "teff::parallel_pipeline: the first stage is called without an argument, and returns a "
                  "std::optional: the next token, or std::nullopt at the end.");
    if constexpr (one_by_one && !std::is_void_v<token>) return stages_fit<token, Rest...>();
  }
  return false;
}

// The type of the argument of stage Index. Stage 0 is the source.
template <std::size_t Index, class... Stages>
struct stage_argument {
  using stage = std::tuple_element_t<Index - 1, std::tuple<Stages...>>;
  using type = std::remove_cv_t<std::invoke_result_t<typename stage::called_type&,
                                                     typename stage_argument<Index - 1, Stages...>::type>>;
};
template <class... Stages>
struct stage_argument<1, Stages...> {
  using type = source_token_t<std::tuple_element_t<0, std::tuple<Stages...>>>;
};

}  // namespace teff::detail
