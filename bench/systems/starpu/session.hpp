#pragma once

#include <fcntl.h>
#include <starpu.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "teff/bench/identity.hpp"

/// While it lives, no other program of this user starts StarPU. The first program on a machine measures its
/// buses and writes files into the user's home; a program that reads them half written aborts.
class sole_start {
 public:
  sole_start() : file_(::open(path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (file_ >= 0) ::flock(file_, LOCK_EX);
  }
  ~sole_start() {
    if (file_ >= 0) ::close(file_);
  }
  sole_start(const sole_start&) = delete;
  sole_start& operator=(const sole_start&) = delete;

 private:
  static std::string path() {
    return std::filesystem::temp_directory_path() / ("teff_starpu_" + std::to_string(::getuid()));
  }
  int file_;
};

/// StarPU from start to end, with so many CPU workers, which rest but while there is an `awake`. Its data
/// must be unregistered before it ends.
class session {
 public:
  explicit session(int workers) {
    starpu_conf settings;
    starpu_conf_init(&settings);
    settings.ncpus = workers;
    {
      const sole_start now;
      if (starpu_init(&settings) != 0) throw std::runtime_error("StarPU does not start");
    }
    starpu_pause();
  }
  ~session() {
    starpu_resume();
    starpu_shutdown();
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  [[nodiscard]] static int workers() { return static_cast<int>(starpu_cpu_worker_get_count()); }
};

/// Idle workers spin: between two runs of a batch, when other programs are measured, they must not. (The lab
/// stops them, too, but only on its machine.) starpu_resume() wakes them under the mutex under which a worker
/// decides to sleep, so no worker sleeps on. Only the main thread calls both functions.
class awake {
 public:
  awake() { starpu_resume(); }
  ~awake() { starpu_pause(); }
  awake(const awake&) = delete;
  awake& operator=(const awake&) = delete;
};

/// What gives it fewer workers than it is asked for.
inline std::string starpu_limits() {
  return "STARPU_NCPU, STARPU_MAIN_THREAD_BIND or its build for at most " + std::to_string(STARPU_MAXCPUS);
}

inline std::string starpu_version() {
  int major = 0;
  int minor = 0;
  int release = 0;
  starpu_get_version(&major, &minor, &release);
  return "StarPU " + std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(release);
}
