// How long requests from outside wait until they begin, while an endless recursion keeps all workers busy.
//
//   teff_request_latency [SECONDS [WORKERS]]     1 second a row, 2 workers
//
// One thread submits requests of 10 us of work each, at random times (Poisson). The load is the share of the
// workers' time that the requests need. Each row has percentiles of the time from the submission to the
// begin, in microseconds. `late` is the 99th percentile of the delay of the submitting thread, which needs a
// processor, too.
#include <teff/join.hpp>
#include <teff/runtime.hpp>

#if defined(WITH_TBB)
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>
#endif

#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
using microseconds = std::chrono::duration<double, std::micro>;

constexpr double request_us = 10;

void work_for_a_request() {
  const auto end = clock_type::now() + std::chrono::microseconds(static_cast<int>(request_us));
  while (clock_type::now() < end) {
  }
}

struct request {
  clock_type::time_point wanted, submitted, begun;
};

double percentile(std::vector<double>& values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + at);
  return values[static_cast<std::size_t>(at)];
}

// `submit(f)` submits f to the system.
template <class Submit>
void measure(const char* system, double load, unsigned workers, double seconds, Submit submit) {
  const double gap_us = request_us / (load * workers);
  const auto count = static_cast<std::size_t>(seconds * 1e6 / gap_us);
  std::vector<request> all(count);
  std::atomic<std::size_t> ended{0};
  std::mt19937_64 random(1);
  std::exponential_distribution<double> gaps(1 / gap_us);
  auto next = clock_type::now();
  for (auto& each : all) {
    next += std::chrono::duration_cast<clock_type::duration>(microseconds(gaps(random)));
    each.wanted = next;
    if (next - clock_type::now() > std::chrono::microseconds(5)) std::this_thread::sleep_until(next);
    each.submitted = clock_type::now();
    submit([&each, &ended] {
      each.begun = clock_type::now();
      work_for_a_request();
      ended.fetch_add(1, std::memory_order_release);
    });
  }
  while (ended.load(std::memory_order_acquire) != count)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::vector<double> waited;
  std::vector<double> late;
  for (const auto& each : all) {
    waited.push_back(microseconds(each.begun - each.submitted).count());
    late.push_back(microseconds(each.submitted - each.wanted).count());
  }
  std::printf("%-6s %4.0f %% %8zu %10.1f %10.1f %10.1f %10.1f %10.1f\n", system, 100 * load, count,
              percentile(waited, 0.5), percentile(waited, 0.9), percentile(waited, 0.99),
              *std::ranges::max_element(waited), percentile(late, 0.99));
}

template <class Measure>
void at_all_loads(Measure at) {
  for (const double load : {0.1, 0.3, 0.5, 0.7, 0.9}) at(load);
}

long fib(long n) {
  if (n < 2) return n;
  auto [a, b] = teff::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

// `enclosed`: the recursion is itself a request.
void measure_teff(const char* name, unsigned workers, double seconds, bool enclosed) {
  std::atomic<bool> stop{false};
  teff::runtime rt{{.workers = workers}};
  const auto recursion = [&] {
    while (!stop) fib(30);
  };
  std::thread caller([&] {
    if (enclosed) {
      rt.submit(recursion).get();
    } else {
      rt.run(recursion);
    }
  });
  at_all_loads([&](double load) { measure(name, load, workers, seconds, [&](auto f) { rt.submit(f); }); });
  stop = true;
  caller.join();
}

#if defined(WITH_TBB)
long tbb_fib(long n) {
  if (n < 2) return n;
  long a = 0;
  long b = 0;
  oneapi::tbb::parallel_invoke([&, n] { a = tbb_fib(n - 1); }, [&, n] { b = tbb_fib(n - 2); });
  return a + b;
}

void measure_tbb(unsigned workers, double seconds) {
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, workers + 1);
  oneapi::tbb::task_arena arena(static_cast<int>(workers), 0);
  std::atomic<bool> stop{false};
  std::atomic<bool> stopped{false};
  arena.enqueue([&] {
    while (!stop) tbb_fib(20);
    stopped = true;
  });
  at_all_loads(
      [&](double load) { measure("tbb", load, workers, seconds, [&](auto f) { arena.enqueue(f); }); });
  stop = true;
  while (!stopped) std::this_thread::yield();
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  const unsigned workers = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2;
  ::prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds: the submitting thread wakes in time
  std::printf("%-6s %6s %8s %10s %10s %10s %10s %10s\n", "system", "load", "requests", "50 %", "90 %", "99 %",
              "most", "late");
  measure_teff("teff", workers, seconds, false);
  measure_teff("nested", workers, seconds, true);
#if defined(WITH_TBB)
  measure_tbb(workers, seconds);
#endif
}
