#include <teff/detail/scheduler/core_share.hpp>

#include <sched.h>
#include <sys/resource.h>

namespace teff::detail {

std::int64_t calling_thread::times_taken() noexcept {
  rusage used{};
  return ::getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_nivcsw : 0;
}

void calling_thread::give_way() noexcept {
  ::sched_yield();
}

}  // namespace teff::detail
