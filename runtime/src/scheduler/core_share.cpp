#include <teff/detail/scheduler/core_share.hpp>

#include "scheduler/worker.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <cstdio>

namespace teff::detail {

std::int64_t calling_thread::times_taken() noexcept {
  rusage used{};
  return ::getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_nivcsw : 0;
}

void calling_thread::give_way() noexcept {
  ::sched_yield();
}

core_time calling_thread::time() noexcept {
  core_time time;
  const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return time;
  std::array<char, 64> text{};
  if (::read(file, text.data(), text.size() - 1) > 0)
    std::sscanf(text.data(), "%" SCNd64 " %" SCNd64, &time.had, &time.lacked);
  ::close(file);
  return time;
}

void calling_thread::publish(double capacity) noexcept {
  if (auto* const me = worker::current()) me->publish_capacity(capacity);
}

}  // namespace teff::detail
