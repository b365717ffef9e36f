// The cost of a trace: nanoseconds an event, and the time of fib with a trace and without.
//
//   teff_trace_cost [N]     fib(N) on one worker, N = 30 by default
//
// Compare the untraced fib with the untraced fib of an older libteff: it must not become slower.
#include <teff/join.hpp>
#include <teff/runtime.hpp>

#include "platform/ticks.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int rounds = 15;
constexpr int events = 1 << 18;

long fib(long n) {
  if (n < 2) return n;
  auto [a, b] = teff::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

// The median time of a round, in ticks.
template <class F>
double median_ticks(F&& once) {
  std::vector<double> all;
  for (int i = 0; i < rounds; ++i) {
    const auto began = teff::detail::ticks::now();
    once();
    all.push_back(static_cast<double>(teff::detail::ticks::now() - began));
  }
  std::ranges::nth_element(all, all.begin() + rounds / 2);
  return all[rounds / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const long n = argc > 1 ? std::atol(argv[1]) : 30;
  const teff::detail::tick_scale scale;
  teff::runtime plain{{.workers = 1}};
  teff::runtime traced{{.workers = 1, .trace = "/dev/null"}};
  const double event = traced.run([] {
    return median_ticks([] {
      for (int i = 0; i < events; ++i)
        const teff::detail::traced_span span(teff::detail::event_kind::task, nullptr);
    });
  });
  long joins = 1;  // of fib(n): fib(n + 1) - 1
  for (long i = 0, before = 0; i < n; ++i) before = std::exchange(joins, joins + before);
  --joins;
  const double off = plain.run([n] { return median_ticks([n] { fib(n); }); });
  const double on = traced.run([n] { return median_ticks([n] { fib(n); }); });
  traced.shutdown();
  const double nanoseconds = scale.nanoseconds_per_tick();
  std::printf("an event (a span with its two times)   %6.1f ns\n", event / events * nanoseconds);
  std::printf("a join of fib(%ld), not traced           %6.2f ns\n", n,
              off / static_cast<double>(joins) * nanoseconds);
  std::printf("a join of fib(%ld), traced: one event    %6.1f ns\n", n,
              on / static_cast<double>(joins) * nanoseconds);
}
