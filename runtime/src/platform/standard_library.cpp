#include <teff/detail/standard_library.hpp>

namespace teff::detail {

void libteff_is_built_for(standard_library*) noexcept {}

}  // namespace teff::detail
