#include "teff/apps/drive.hpp"

#include "apps_benchmark.hpp"
#include "runner.hpp"
#include "teff/apps/kernels.hpp"

namespace teff::apps {

int drive(int argc, char** argv, const std::function<std::unique_ptr<system>(int workers)>& make,
          int workers) {
  kernels::use_threads(1);
  const auto start = [&](int count) {
    return std::make_unique<runner>(std::make_unique<company>(), make(count));
  };
  return bench::drive(argc, argv, apps_benchmark(), start, workers);
}

}  // namespace teff::apps
