#pragma once

#include "teff/apps/app.hpp"

// Each app over ways describes itself in its folder.
namespace teff::apps::hpccg {
[[nodiscard]] description describe();
}
