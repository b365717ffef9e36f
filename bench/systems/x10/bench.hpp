// The functions that Session.x10 and Workload.x10 declare, by libteff_bench.so.
#pragma once

#include <sched.h>
#include <x10/lang/Rail.h>
#include <x10/lang/String.h>

#include <cstring>
#include <vector>

#include "teff_bench.h"

namespace teff_x10 {

using longs = ::x10::lang::Rail<x10_long>;
using bytes = ::x10::lang::Rail<x10_byte>;

inline teff_session* session(x10_long handle) {
  return reinterpret_cast<teff_session*>(handle);
}
inline teff_workload* workload(x10_long handle) {
  return reinterpret_cast<teff_workload*>(handle);
}
template <class Object>
x10_long handle(Object* of) {
  return reinterpret_cast<x10_long>(of);
}

/// The words live as long as the program.
inline x10_long open(::x10::lang::Rail<::x10::lang::String*>* flags) {
  static std::vector<const char*> words;
  for (x10_long i = 0; i < flags->FMGL(size); ++i) words.push_back(flags->raw[i]->c_str());
  return handle(teff_session_open(static_cast<std::int32_t>(words.size()), words.data()));
}

inline void identify(x10_long of, ::x10::lang::String* variant, x10_int workers, x10_int places) {
  const teff_identity who = {"x10", variant->c_str(), TEFF_X10_VERSION, workers, places};
  teff_session_identify(session(of), &who);
}

/// Of all places.
inline void answer(x10_long of, x10_long work, ::x10::lang::Rail<bytes*>* outcomes) {
  std::vector<teff_outcome> all(static_cast<std::size_t>(outcomes->FMGL(size)));
  for (std::size_t i = 0; i < all.size(); ++i) std::memcpy(&all[i], outcomes->raw[i]->raw, sizeof all[i]);
  teff_session_answer(session(of), workload(work), all.data(), static_cast<std::int32_t>(all.size()));
}

/// The bytes of a teff_outcome. Places that spin at once are noise to each other.
inline bytes* outcome(x10_long work, x10_boolean is_timed) {
  teff_outcome made;
  teff_take_outcome(workload(work), &made);
  if (!is_timed) made.elapsed_seconds = made.gap_share_before = made.gap_share_after = 0;
  bytes* const copied = bytes::_make(sizeof made);
  std::memcpy(copied->raw, &made, sizeof made);
  return copied;
}

/// Calls a function of teff_bench.h on a workload.
template <auto Function, class... Arguments>
auto ask(x10_long work, Arguments... arguments) {
  return Function(workload(work), arguments...);
}

/// The points that a function of teff_bench.h writes, which says how many there are.
template <auto Write>
longs* points(x10_long work, x10_int graph, x10_long timestep, x10_long point) {
  const std::int64_t count = Write(workload(work), graph, timestep, point, nullptr, 0);
  longs* const found = longs::_make(count);
  Write(workload(work), graph, timestep, point, found->raw, count);
  return found;
}

inline x10_long first_point(x10_long work, x10_int graph, x10_long timestep) {
  std::int64_t first = 0;
  teff_points(workload(work), graph, timestep, &first);
  return first;
}

/// `outputs` has the outputs of all points at the even timesteps, then at the odd ones, of `size` bytes each.
inline void execute(x10_long work, x10_int graph, x10_long timestep, x10_long point, x10_int worker,
                    bytes* outputs, x10_long width, x10_long size, longs* inputs) {
  thread_local std::vector<const void*> from;
  thread_local std::vector<std::size_t> sizes;
  const auto count = static_cast<std::size_t>(inputs->FMGL(size));
  from.resize(count);
  sizes.assign(count, static_cast<std::size_t>(size));
  const auto output = [&](x10_long of, x10_long at) { return outputs->raw + (of % 2 * width + at) * size; };
  for (std::size_t i = 0; i < count; ++i) from[i] = output(timestep + 1, inputs->raw[i]);
  teff_execute(workload(work), graph, timestep, point, worker, output(timestep, point),
               static_cast<std::size_t>(size), from.data(), sizes.data(), inputs->FMGL(size));
}

/// Of the calling thread.
inline void bind_to_core(x10_int index) {
  thread_local x10_int bound = -1;
  if (bound == index) return;
  teff_bind_to_core(index);
  bound = index;
}

}  // namespace teff_x10
