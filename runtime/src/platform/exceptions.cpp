#include <teff/detail/exceptions.hpp>
#include <teff/error.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace teff::detail {

void end_program(const std::exception& error) noexcept {
  std::fprintf(stderr, "%s\n", error.what());
  std::abort();
}

void refuse_index(const char* call, const char* of, std::int64_t index, std::int64_t count) {
  throw misuse(std::string(call) + ": there is no " + of + ' ' + std::to_string(index) +
               "; they are numbered 0 to " + std::to_string(count - 1));
}

}  // namespace teff::detail
