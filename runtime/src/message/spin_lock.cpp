#include <teff/detail/message/spin_lock.hpp>

#include "platform/relax.hpp"

#include <thread>

namespace teff::detail {

namespace {

// About as long as a message is copied.
constexpr int looks = 64;

}  // namespace

void spin_lock::wait() noexcept {
  for (int look = 0; !try_lock(); ++look) {
    if (look < looks) {
      relax();
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace teff::detail
