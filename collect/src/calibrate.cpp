// The collector's own part of a segment: that of a loop with empty chunks, on a runtime that does nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "file.hpp"
#include "runtimes.hpp"
#include "seat.hpp"

extern "C" bool GOMP_loop_dynamic_next(long* begin, long* end);

namespace teff::collect {

namespace {

block accounts;  // of the calibration alone, as are the next ones
seat thread;
runtime nothing;
void* functions[1000];

bool always_next(long*, long*) {
  return true;
}

}  // namespace

void calibrate() {
  constexpr int batches = 20, chunks = 50;
  constexpr std::uint64_t too_short = 100;  // ns: below, what is measured is mostly the clock
  seat* const outer_seat = me;
  const runtime* const outer_call = last_called;
  nothing.first = 0;
  nothing.last = std::numeric_limits<std::uintptr_t>::max();
  std::fill(std::begin(functions), std::end(functions), reinterpret_cast<void*>(always_next));
  nothing.real = functions;
  activation region;
  thread.use(accounts);
  thread.current = &region;
  me = &thread;
  last_called = &nothing;
  auto least = std::numeric_limits<std::uint64_t>::max();
  auto& in_bodies = accounts.times[static_cast<std::size_t>(state::body)];
  for (int i = 0; i < batches; ++i) {  // the least: a batch may have been interrupted
    const auto before = in_bodies;
    for (int j = 0; j < chunks; ++j) GOMP_loop_dynamic_next(nullptr, nullptr);
    if (i > 0) least = std::min(least, (in_bodies - before) / chunks);
  }
  me = outer_seat;
  last_called = outer_call;
  header& to = *head();
  to.own = least;
  const auto length = static_cast<double>(ticks() - to.first.ticks);
  const auto rate =
      length / static_cast<double>(std::max<std::uint64_t>(1, nanoseconds() - to.first.nanoseconds));
  set_shortest(least + static_cast<std::uint64_t>(rate * static_cast<double>(too_short)));
}

}  // namespace teff::collect
