#include "teff/apps/drive.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "apps_benchmark.hpp"
#include "runner.hpp"
#include "teff/apps/kernels.hpp"
#include "teff/bench/failure.hpp"

namespace teff::apps {

int drive(int argc, char** argv, const std::function<std::unique_ptr<system>(int workers)>& make,
          int workers) try {
  const std::optional<way_kind> only = take_way(argc, argv);
  kernels::use_threads(1);
  const auto start = [&](int count) {
    return std::make_unique<runner>(std::make_unique<company>(), make(count), only);
  };
  return bench::drive(argc, argv, apps_benchmark(), start, workers);
} catch (const bench::usage_error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return 2;
}

}  // namespace teff::apps
