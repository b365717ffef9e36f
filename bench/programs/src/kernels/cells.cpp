#include "teff/programs/kernels/cells.hpp"

#include "teff/programs/data.hpp"

namespace teff::programs {

[[gnu::noinline, gnu::aligned(64)]] std::uint64_t next_cell(std::uint64_t a, std::uint64_t b) {
  return mixed(a ^ (3 * b));
}

}  // namespace teff::programs
