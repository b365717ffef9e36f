// What idle workers cost, and how long a parked one takes to be at work.
//
//   teff_parking [SECONDS]     how long the idle program waits, 10 if nothing is said
//
// The wake is measured beside the machine's bare one: a thread that sleeps in a futex on the same core, woken
// from the same other core, in turns. What libteff adds is the queue, the idle counters and the look for the
// job.
#include <teff/teff.hpp>

#include "platform/futex.hpp"
#include "platform/ticks.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using teff::detail::ticks;

constexpr int wakes = 2000;
constexpr std::chrono::microseconds time_to_fall_asleep{400};  // a worker spins for 50 us

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void idle(int seconds) {
  teff::runtime rt;
  rt.run([] { teff::parallel_for(0, 1000, [](int) {}); });
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const double used = cpu_seconds() - before;
  const auto counted = rt.counters();
  std::printf("idle for %d s with %u workers: %.4f s of CPU; searching %.4f s, parked %.2f s in all\n",
              seconds, rt.workers(), used, 1e-9 * static_cast<double>(counted.searching.count()),
              1e-9 * static_cast<double>(counted.parked.count()));
}

void bind(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

// Any other core than this that the process may use; this one if there is none.
int another(int cpu) {
  cpu_set_t usable;
  ::sched_getaffinity(0, sizeof usable, &usable);
  for (int each = 0; each < CPU_SETSIZE; ++each)
    if (each != cpu && CPU_ISSET(each, &usable)) return each;
  return cpu;
}

// A thread asleep in a futex, which says when it got up.
class bare_sleeper {
 public:
  explicit bare_sleeper(int cpu)
      : thread_([this, cpu] {
          bind(cpu);
          for (std::uint32_t turn = 0; turn < wakes; ++turn) {
            while (turn_.load(std::memory_order_acquire) == turn) teff::detail::futex_wait(turn_, turn);
            awake_.store(ticks::now(), std::memory_order_release);
          }
        }) {}
  ~bare_sleeper() { thread_.join(); }

  // Ticks from before the wake until it runs.
  std::uint64_t wake() {
    awake_.store(0, std::memory_order_relaxed);
    const auto began = ticks::now();
    turn_.fetch_add(1, std::memory_order_release);
    teff::detail::futex_wake(turn_);
    std::uint64_t awake = 0;
    while ((awake = awake_.load(std::memory_order_acquire)) == 0) std::this_thread::yield();
    return awake - began;
  }

 private:
  std::atomic<std::uint32_t> turn_{0};
  std::atomic<std::uint64_t> awake_{0};
  std::thread thread_;
};

struct clock_job : teff::detail::job {
  clock_job()
      : job{[](job& self) noexcept {
          static_cast<clock_job&>(self).ran.store(ticks::now(), std::memory_order_release);
        }} {}
  std::atomic<std::uint64_t> ran{0};
};

// Ticks from before the submission until the job runs, on a parked worker.
std::uint64_t wake_worker(teff::runtime& rt) {
  clock_job job;
  const auto began = ticks::now();
  teff::detail::submit(rt.internals(), job);
  std::uint64_t ran = 0;
  while ((ran = job.ran.load(std::memory_order_acquire)) == 0) std::this_thread::yield();
  return ran - began;
}

double quantile(std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

// How many lie in [2^i, 2^(i + 1)) microseconds.
std::array<int, 12> histogram(const std::vector<double>& microseconds) {
  std::array<int, 12> buckets{};
  for (const double each : microseconds) {
    const auto whole = static_cast<unsigned>(std::clamp(each, 0.0, 1e6));
    ++buckets[std::min<std::size_t>(std::bit_width(whole), buckets.size() - 1)];
  }
  return buckets;
}

void wake_latency() {
  const teff::detail::tick_scale scale;
  teff::runtime rt{{.workers = 1}};
  const int cpu = rt.run([] { return ::sched_getcpu(); });
  bind(another(cpu));
  std::vector<double> bare, worker;
  {
    bare_sleeper sleeper(cpu);
    for (int i = 0; i < wakes; ++i) {
      std::this_thread::sleep_for(time_to_fall_asleep);
      bare.push_back(static_cast<double>(sleeper.wake()));
      std::this_thread::sleep_for(time_to_fall_asleep);
      worker.push_back(static_cast<double>(wake_worker(rt)));
    }
  }
  for (auto* const all : {&bare, &worker}) {
    for (double& each : *all) each *= 1e-3 * scale.nanoseconds_per_tick();
    std::ranges::sort(*all);
  }
  std::printf("wake-up of a sleeper on another core, %d each, in turns (us)\n", wakes);
  std::printf("              bare futex    parked worker    ratio\n");
  for (const double share : {0.05, 0.5, 0.95, 0.99}) {
    const double a = quantile(bare, share), b = quantile(worker, share);
    std::printf("  %3.0f %%       %10.2f       %10.2f     %4.2f\n", 100 * share, a, b, b / a);
  }
  const auto of_bare = histogram(bare), of_worker = histogram(worker);
  for (std::size_t i = 0; i < of_bare.size(); ++i) {
    if (of_bare[i] + of_worker[i] == 0) continue;
    const unsigned from = i == 0 ? 0 : 1U << (i - 1);
    std::printf("  from %4u us %9d %16d\n", from, of_bare[i], of_worker[i]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  idle(argc > 1 ? std::atoi(argv[1]) : 10);
  wake_latency();
}
