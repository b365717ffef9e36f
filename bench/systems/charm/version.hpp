#pragma once

#include <charm-version.h>

#include <string>

inline std::string charm_version() {
  return std::to_string(CHARM_VERSION_MAJOR) + '.' + std::to_string(CHARM_VERSION_MINOR) + '.' +
         std::to_string(CHARM_VERSION_PATCH);
}
