#pragma once

#include <vector>

#include "teff/graphs/kernel.hpp"

namespace teff::graphs {

/// The instruction sets that tests can run here.
inline std::vector<isa> supported_isas() {
  std::vector<isa> levels{isa::baseline, isa::avx2, isa::avx512};
  std::erase_if(levels, [](isa level) { return !supported(level); });
  return levels;
}

}  // namespace teff::graphs
