#pragma once

#include <qthread/qthread.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "teff/bench/identity.hpp"

/// Throws where a call of Qthreads fails.
inline void check(int code) {
  if (code != QTHREAD_SUCCESS) throw std::runtime_error("Qthreads fails with code " + std::to_string(code));
}

/// Qthreads from start to end, with so many workers. The thread that makes it becomes a qthread of the first.
/// A shepherd a worker: workers that share one hand the thread of main() around, which only the first may
/// run.
class session {
 public:
  explicit session(int workers) {
    const std::string count = std::to_string(workers);
    setenv("QT_NUM_SHEPHERDS", count.c_str(), 1);
    setenv("QT_NUM_WORKERS_PER_SHEPHERD", "1", 1);
    setenv("QT_HWPAR", count.c_str(), 1);
    check(qthread_initialize());
  }
  ~session() { qthread_finalize(); }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  [[nodiscard]] static teff::bench::identity describe(const char* variant) {
    return {.system = "qthreads",
            .variant = variant,
            .version = QTHREAD_VERSION,
            .workers = static_cast<int>(qthread_num_workers())};
  }
};
