// nOS-V's workers as an adapter asks for them.
#pragma once

#include <nosv.h>
#include <nosv/hwinfo.h>
#include <sched.h>

#include <stdexcept>
#include <string>

#include "teff/bench/cores.hpp"

/// As pkg-config says it: nOS-V itself does not.
inline std::string nosv_release() {
  return "nOS-V " TEFF_NOSV_VERSION;
}

/// Throws nOS-V's message for a call that failed.
inline void check(int code) {
  if (code < 0) throw std::runtime_error(nosv_get_error_string(code));
}

/// The worker that calls, counted from 0.
inline int this_worker() {
  return nosv_get_current_logical_cpu();
}

/// While it lives, its thread may use only the first of its cores: nOS-V has a worker, bound, for each core
/// of the thread that initializes it.
class first_cores {
 public:
  explicit first_cores(int workers) {
    workers = teff::bench::no_more_than_cores(workers, "nOS-V");
    sched_getaffinity(0, sizeof(all_), &all_);
    cpu_set_t first;
    CPU_ZERO(&first);
    for (int core = 0; CPU_COUNT(&first) < workers; ++core)
      if (CPU_ISSET(core, &all_)) CPU_SET(core, &first);
    sched_setaffinity(0, sizeof(first), &first);
  }
  ~first_cores() { sched_setaffinity(0, sizeof(all_), &all_); }
  first_cores(const first_cores&) = delete;
  first_cores& operator=(const first_cores&) = delete;

 private:
  cpu_set_t all_;
};
