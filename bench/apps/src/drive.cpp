#include "teff/apps/drive.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string_view>

#include "apps_benchmark.hpp"
#include "runner.hpp"
#include "teff/apps/kernels.hpp"
#include "teff/bench/failure.hpp"

namespace teff::apps {

int drive(int argc, char** argv, const std::function<std::unique_ptr<system>(int workers)>& make,
          int workers) try {
  std::optional<way_kind> only;
  if (argc > 2 && std::string_view(argv[1]) == "--way") {
    only = way_named(argv[2]);
    argv[2] = argv[0];
    argv += 2;
    argc -= 2;
  }
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
