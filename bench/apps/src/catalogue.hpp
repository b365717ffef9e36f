#pragma once

#include "teff/apps/app.hpp"

// Each app over ways describes itself in its folder.
namespace teff::apps::hpccg {
[[nodiscard]] description describe();
}
namespace teff::apps::lulesh {
[[nodiscard]] description describe();
}
namespace teff::apps::sssp {
[[nodiscard]] description describe();
}
namespace teff::apps::hpcg {
[[nodiscard]] description describe();
}
namespace teff::apps::leanmd {
[[nodiscard]] description describe();
}
