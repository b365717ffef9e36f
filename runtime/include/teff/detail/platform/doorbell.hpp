// A word in memory that processes share, on which one of them wakes a sleeper of another.
#pragma once

#include <atomic>
#include <cstdint>

namespace teff::detail {

// A thread that has found the word to be `quiet`, and has then looked in vain, may sleep as long as the word
// is `quiet`. A thread that brings something changes the word and wakes all that sleep on it by its futex,
// which is not private to a process (src/platform/bell.hpp).
struct doorbell {
  const std::atomic<std::uint32_t>* word;
  std::uint32_t quiet;
};

}  // namespace teff::detail
