// parallel_pipeline: a stream of tokens that pass stages.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/pipeline/running_pipeline.hpp>
#include <teff/detail/pipeline/stage.hpp>
#include <teff/detail/scheduler/on_workers.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/error.hpp>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace teff {

namespace detail {
// The most tokens under way: far more than any number of workers can use.
inline constexpr std::size_t most_tokens = std::size_t{1} << 16;
}  // namespace detail

// Makes a stage that runs on one token at a time, in the order in which the first stage made them. So it may
// write a file, or have a state. Here and below, the stage keeps a copy of `f`.
template <class F>
[[nodiscard]] auto serial(F&& f) {
  return detail::pipeline_stage<detail::stage_mode::serial, std::decay_t<F>>{std::forward<F>(f)};
}

// Makes a stage that runs on one token at a time, in the order in which they come to it.
template <class F>
[[nodiscard]] auto serial_out_of_order(F&& f) {
  return detail::pipeline_stage<detail::stage_mode::serial_out_of_order, std::decay_t<F>>{std::forward<F>(f)};
}

// Makes a stage that may run on several tokens at a time, in any order. Several workers call `f` at once, so
// they call it as const.
template <class F>
[[nodiscard]] auto parallel(F&& f) {
  return detail::pipeline_stage<detail::stage_mode::parallel, std::decay_t<F>>{std::forward<F>(f)};
}

// Carries tokens through stages; returns when all have left the last one.
//
// The first stage, which is serial, makes the tokens: it returns a std::optional, and std::nullopt at the
// end. Each further stage is called with the result of the stage before it, by rvalue, so a token may be a
// type that can only be moved. The last stage returns void. Stages that don't fit fail a static_assert.
//
//   teff::parallel_pipeline(16,
//       teff::serial([&]() -> std::optional<block> { return in.read(); }),
//       teff::parallel([](block b) { return packed(b); }),
//       teff::serial([&](packed_block p) { out.write(p); }));
//
// - At most `tokens` tokens are under way at a time: the first stage waits until there is room for the next
//   one. So memory is bounded.
// - A worker carries its token from stage to stage. If the token has to wait for its turn at a stage, the
//   worker goes on with another token. If a token takes less than a microsecond in all stages together, one
//   worker carries all tokens.
// - If a stage throws, no stage begins any more. The stages that run end, and tokens under way are destroyed.
//   Then parallel_pipeline() throws the first exception.
// - A stage may call anything, also loops, joins and other pipelines.
// - On a thread that is no worker, the pipeline runs within default_runtime().
//
// Throws misuse if `tokens` is 0. Throws std::bad_alloc: when a second worker takes part, each further serial
// stage allocates room for `tokens` tokens. If `tokens` is more than 65536, it counts as 65536.
template <class... Stages>
void parallel_pipeline(std::size_t tokens, Stages&&... stages) {
  if constexpr (detail::is_pipeline<std::remove_cvref_t<Stages>...>()) {
    if (tokens == 0) detail::throw_error(misuse("teff::parallel_pipeline: no token may be under way"));
    using source =
        typename std::tuple_element_t<0, std::tuple<std::remove_cvref_t<Stages>...>>::function_type;
    detail::on_workers([&] {
      const detail::traced_span span(detail::event_kind::loop, detail::name_of<source>());
      detail::running_pipeline<detail::pipeline_worker, std::remove_reference_t<Stages>...>(
          std::min(tokens, detail::most_tokens), stages...)
          .run();
    });
  }
}

}  // namespace teff
