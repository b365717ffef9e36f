// A pause between two looks at a word that another thread is about to write.
#pragma once

namespace teff::detail {

inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace teff::detail
