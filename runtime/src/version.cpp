#include <teff/version.hpp>

namespace teff {

// TEFF_VERSION: of the CMake project.
const char* version() noexcept {
  return TEFF_VERSION;
}

}  // namespace teff
