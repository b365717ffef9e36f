// The number of allocations by operator new, on all threads together, and an allocation that fails.
#pragma once

#include <cstdint>

namespace teff::test {

std::uint64_t allocations() noexcept;

// Has the allocation of this number fail, on any thread, where the next allocation is number 1. 0: no
// allocation fails any more.
void fail_allocation(std::uint64_t which) noexcept;

}  // namespace teff::test
