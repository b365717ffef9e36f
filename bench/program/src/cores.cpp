#include "teff/bench/cores.hpp"

#include <sched.h>

namespace teff::bench {

int usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  return sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : 1;
}

void bind_to_core(int index) {
  // The process's mask, not the calling thread's: that one may have been narrowed by an earlier call.
  static const cpu_set_t process_mask = [] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof(mask), &mask);
    return mask;
  }();
  const int cores = CPU_COUNT(&process_mask);
  if (cores == 0) return;
  int left = index % cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &process_mask) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof(one), &one);
    return;
  }
}

}  // namespace teff::bench
