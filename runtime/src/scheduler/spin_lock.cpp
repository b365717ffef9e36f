#include <teff/detail/scheduler/spin_lock.hpp>

#include <teff/detail/platform/relax.hpp>

#include <thread>

namespace teff::detail {

namespace {

// Two threads that hold it for no longer than a copy takes never yield.
constexpr int looks_before_yields = 64;

}  // namespace

void spin_lock::wait() noexcept {
  for (int look = 0; !try_lock(); ++look) {
    if (look < looks_before_yields) {
      relax();
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace teff::detail
