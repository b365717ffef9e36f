// How often the program has allocated memory, by operator new, on all threads together; and one that fails.
#pragma once

#include <cstdint>

namespace teff::test {

std::uint64_t allocations() noexcept;

// Of those from now on this one fails, on whichever thread, the first being 1; 0: none does any more.
void fail_allocation(std::uint64_t which) noexcept;

}  // namespace teff::test
