#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "teff/apps/app.hpp"

namespace teff::apps {

/// One run of an app.
struct work {
  const description* what = nullptr;
  description::maker make;
  std::int64_t tasks = 0;  ///< that a step is cut into; 0: as suits the workers
};

/// Reads the flags of a run, with one dash or two. Throws bench::usage_error.
[[nodiscard]] work parse_work(std::span<const std::string> flags);
/// The flags of a run and the app's keys in its record, for people.
[[nodiscard]] std::string work_help();

}  // namespace teff::apps
