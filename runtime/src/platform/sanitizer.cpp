#include "platform/sanitizer.hpp"

#include <atomic>
#include <cstdio>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEFF_UNDER_TSAN
#endif
#endif

#if !defined(__SANITIZE_THREAD__) && !defined(TEFF_UNDER_TSAN)
// Of the sanitizer's run-time library; null in a program without it.
extern "C" [[gnu::weak]] void __tsan_init();  // NOLINT: its name

void teff::detail::warn_of_false_races() noexcept {
  static constinit std::atomic<bool> said{false};
  if (__tsan_init == nullptr || said.exchange(true, std::memory_order_relaxed)) return;
  std::fputs(
      "libteff: ThreadSanitizer will report races that are none, because this libteff is not compiled for "
      "it; "
      "link libteff_tsan (CMake: teff::tsan, pkg-config: teff-tsan)\n",
      stderr);
}
#else
void teff::detail::warn_of_false_races() noexcept {}
#endif
