// How often the program has allocated memory, by operator new, on all threads together.
#pragma once

#include <cstdint>

namespace teff::test {

std::uint64_t allocations() noexcept;

}  // namespace teff::test
