#include "teff/bench/cores.hpp"

#include <fmt/format.h>

#include <sched.h>

#include "teff/bench/failure.hpp"

namespace teff::bench {
namespace {

// The process's, however a thread has been bound since: read at the first call, which is before any thread is
// bound.
const cpu_set_t& process_mask() {
  static const cpu_set_t read = [] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof(mask), &mask);
    return mask;
  }();
  return read;
}

}  // namespace

int usable_cores() {
  const int cores = CPU_COUNT(&process_mask());
  return cores == 0 ? 1 : cores;  // a mask too large for cpu_set_t can't be read
}

int no_more_than_cores(int workers, const char* system) {
  if (const int cores = usable_cores(); workers > cores)
    throw usage_error(fmt::format("{} workers: {} has no more workers than cores; say --workers {} at most",
                                  workers, system, cores));
  return workers;
}

void bind_to_core(int index) {
  int left = index % usable_cores();
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &process_mask()) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof(one), &one);
    return;
  }
}

}  // namespace teff::bench
