// The body of a graph's tasks, in a trace.
#pragma once

#include <teff/detail/scheduler/tracing.hpp>

#include <functional>
#include <type_traits>
#include <utility>

namespace teff::detail {

// A body that a trace records. No worker pushes a task of a graph, so it counts as spawned when it begins.
template <class Body>
struct traced_body {
  Body body;

  template <class... Arguments>
  void operator()(Arguments&&... arguments) {
    if (trace_ring* const ring = ring_here(); ring != nullptr) [[unlikely]]
      record_spawn(*ring);
    const traced_span span(event_kind::task, name_of<std::remove_cvref_t<Body>>());
    std::invoke(body, std::forward<Arguments>(arguments)...);
  }
};

}  // namespace teff::detail
