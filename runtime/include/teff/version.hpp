// version: which libteff this program runs with.
#pragma once

namespace teff {

// The version of the library that the program is linked with, as "0.1.0".
//
//   std::printf("libteff %s\n", teff::version());
[[nodiscard]] const char* version() noexcept;

}  // namespace teff
