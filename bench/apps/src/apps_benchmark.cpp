#include "apps_benchmark.hpp"

#include <fmt/format.h>

#include "teff/apps/work.hpp"

namespace teff::apps {

std::string apps_benchmark::help() const {
  return work_help();
}

std::vector<bench::benchmark_case> apps_benchmark::cases() const {
  std::vector<bench::benchmark_case> all;
  for (const description& app : all_apps())
    for (const description::sample& each : app.cases) {
      all.push_back({.name = std::string(each.name),
                     .title = std::string(each.title),
                     .flags = fmt::format("-app {} {}", app.name, each.flags),
                     .by_default = each.by_default,
                     .group = std::string(app.name)});
      if (!each.test_ranks.empty()) all.back().own["test_ranks"] = each.test_ranks;
    }
  return all;
}

void apps_benchmark::check(const bench::flags& of_run, bool /*in_batch*/) const {
  static_cast<void>(parse_work(of_run));
}

}  // namespace teff::apps
