#include "teff/wake/work.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "teff/bench/flags.hpp"

namespace teff::wake {
namespace {

struct flag_reader {
  bench::flag_parser flags{
      "Lets the workers of a system idle, then spawns a task for another worker, again and again."};
  int wakes = work().wakes;
  double idle = work().idle.count();

  flag_reader() {
    flags.add("--wakes", wakes, "how often").within(1, 100'000).takes("COUNT");
    flags.add("--idle", idle, "seconds without work before each").within(0.0, 60.0).takes("SECONDS");
  }
};

}  // namespace

work parse_work(std::span<const std::string> flags) {
  flag_reader reader;
  reader.flags.parse(flags);
  return {.wakes = reader.wakes, .idle = seconds(reader.idle)};
}

std::string work_help() {
  return flag_reader().flags.help();
}

double quantile(std::vector<double> samples, double share) {
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(samples.size())));
  const auto at = samples.begin() + std::max<std::ptrdiff_t>(rank - 1, 0);
  std::ranges::nth_element(samples, at);
  return *at;
}

}  // namespace teff::wake
