// Which hardware threads this process may use, and which of them workers keep to.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <vector>

namespace teff::detail {

class topology {
 public:
  // Reads the machine (hwloc) and the affinity mask of the process's main thread. Throws std::system_error if
  // hwloc fails.
  topology();

  // Usable cores: those with at least one hardware thread in the mask, at most as many as the cgroup's CPU
  // quota lets run at a time.
  [[nodiscard]] unsigned usable_cores() const noexcept { return cores_; }

  // Usable hardware threads (operating-system indices): the first of every core, then the second, and so on.
  [[nodiscard]] const std::vector<unsigned>& processors() const noexcept { return processors_; }

  // Moves a thread of this process to this hardware thread, if its mask allows that. The mask stays as it is,
  // so the system may move the thread on. `thread`: as the kernel numbers it; 0: the calling thread.
  static void move_thread(pid_t thread, unsigned processor) noexcept;
  // Gives the calling thread the mask of the process's main thread.
  void free_this_thread() const noexcept { ::sched_setaffinity(0, sizeof mask_, mask_.data()); }

 private:
  using processor_set = std::array<cpu_set_t, 8>;  // 8192 processors: Linux knows no more

  processor_set mask_{};  // of the process's main thread
  std::vector<unsigned> processors_;
  unsigned cores_ = 1;
};

// The processors that the workers of one runtime keep to, as long as it lives.
class processor_claim {
 public:
  // The `count` of `order` that the fewest workers of this process keep to, in that order where they are
  // equal. `order` has at least `count`.
  processor_claim(const std::vector<unsigned>& order, std::size_t count);
  ~processor_claim();
  processor_claim(const processor_claim&) = delete;
  processor_claim& operator=(const processor_claim&) = delete;

  [[nodiscard]] unsigned operator[](std::size_t worker) const noexcept { return processors_[worker]; }

 private:
  std::vector<unsigned> processors_;
};

}  // namespace teff::detail
