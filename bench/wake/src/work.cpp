#include "teff/wake/work.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "teff/bench/flags.hpp"

namespace teff::wake {
namespace {

struct flag_reader {
  CLI::App app{"Lets the workers of a system idle, then spawns a task for another worker, again and again."};
  int wakes = work().wakes;
  double idle = work().idle.count();

  flag_reader() {
    app.name("");
    app.set_help_flag();
    app.add_option("--wakes", wakes, "how often")->check(CLI::Range(1, 100'000))->option_text("COUNT");
    app.add_option("--idle", idle, "seconds without work before each")
        ->check(CLI::Range(0.0, 60.0))
        ->option_text("SECONDS");
  }
};

}  // namespace

work parse_work(std::span<const std::string> flags) {
  flag_reader reader;
  bench::read_flags(reader.app, bench::rewritten(reader.app, flags));
  return {.wakes = reader.wakes, .idle = seconds(reader.idle)};
}

std::string work_help() {
  return flag_reader().app.help();
}

double quantile(std::vector<double> samples, double share) {
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(samples.size())));
  const auto at = samples.begin() + std::max<std::ptrdiff_t>(rank - 1, 0);
  std::ranges::nth_element(samples, at);
  return *at;
}

}  // namespace teff::wake
