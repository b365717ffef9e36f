// Whether a runtime has been destroyed, for what may outlive it against its contract.
#pragma once

#include <atomic>
#include <cstdint>

namespace teff::detail {

class scheduler;

struct runtime_life {
  // The number of the runtime that has this place now. The place lives as long as the process does; other
  // runtimes, of other numbers, have it later.
  const std::atomic<std::uint64_t>* place;
  std::uint64_t number;

  // Relaxed: a runtime that another thread is destroying just now can't be used safely anyway.
  [[nodiscard]] bool lasts() const noexcept { return place->load(std::memory_order_relaxed) == number; }
};
[[nodiscard]] runtime_life life_of(const scheduler&) noexcept;

}  // namespace teff::detail
