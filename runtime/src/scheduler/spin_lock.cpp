#include <teff/detail/scheduler/spin_lock.hpp>

#include <teff/detail/platform/relax.hpp>

#include <thread>

namespace teff::detail {

void relax_or_yield(int look) noexcept {
  // Two threads that hold a lock for no longer than a copy takes never yield.
  constexpr int looks_before_yields = 64;
  if (look < looks_before_yields) {
    relax();
  } else {
    std::this_thread::yield();
  }
}

void spin_lock::wait() noexcept {
  for (int look = 0; !try_lock(); ++look) relax_or_yield(look);
}

}  // namespace teff::detail
