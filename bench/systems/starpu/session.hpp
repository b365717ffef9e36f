#pragma once

#include <starpu.h>

#include <stdexcept>
#include <string>

#include "teff/graphs/configuration.hpp"

/// StarPU from start to end, with so many CPU workers, which rest but while there is an `awake`. Its data
/// must be unregistered before it ends.
class session {
 public:
  explicit session(int workers) {
    starpu_conf settings;
    starpu_conf_init(&settings);
    settings.ncpus = workers;
    if (starpu_init(&settings) != 0) throw std::runtime_error("StarPU does not start");
    if (const auto started = static_cast<int>(starpu_cpu_worker_get_count()); started != workers) {
      starpu_shutdown();
      throw teff::bench::usage_error("StarPU starts " + std::to_string(started) + " of " +
                                     std::to_string(workers) + " workers; it was built for at most " +
                                     std::to_string(STARPU_MAXCPUS) +
                                     ", and STARPU_NCPU or STARPU_MAIN_THREAD_BIND may ask for fewer");
    }
    starpu_pause();
  }
  ~session() {
    starpu_resume();
    starpu_shutdown();
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;
};

/// Idle workers spin: between two runs of a batch, when other programs are measured, they must not. (The lab
/// stops them, too, but only on its own machine.) starpu_resume() wakes under the mutex under which a worker
/// looks whether to sleep, so none sleeps on; both are for one thread, here the main one.
class awake {
 public:
  awake() { starpu_resume(); }
  ~awake() { starpu_pause(); }
  awake(const awake&) = delete;
  awake& operator=(const awake&) = delete;
};

inline std::string starpu_version() {
  int major = 0;
  int minor = 0;
  int release = 0;
  starpu_get_version(&major, &minor, &release);
  return "StarPU " + std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(release);
}
