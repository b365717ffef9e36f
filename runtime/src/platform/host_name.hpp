// What this machine calls itself.
#pragma once

#include <unistd.h>

#include <array>
#include <string>

namespace teff::detail {

inline std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace teff::detail
