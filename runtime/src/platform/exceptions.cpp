#include <teff/detail/exceptions.hpp>

#include <cstdio>
#include <cstdlib>

namespace teff::detail {

void end_program(const std::exception& error) noexcept {
  std::fprintf(stderr, "%s\n", error.what());
  std::abort();
}

}  // namespace teff::detail
