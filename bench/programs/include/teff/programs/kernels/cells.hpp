#pragma once

#include <cstdint>

namespace teff::programs {

/// The work of tasks that are all overhead: some instructions on two numbers.
[[nodiscard]] std::uint64_t next_cell(std::uint64_t a, std::uint64_t b);

}  // namespace teff::programs
