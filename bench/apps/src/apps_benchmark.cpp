#include "apps_benchmark.hpp"

#include <fmt/format.h>

#include "teff/apps/work.hpp"

namespace teff::apps {
namespace {

struct sizes {
  app what;
  int size;  ///< a run of it takes some tenths of a second
  const char* title;
};
constexpr sizes usual[] = {{app::gemm, 2048, "C = A B"}, {app::cholesky, 4096, "A = L L^T"}};

struct block {
  int rows;
  bool by_default;
};
constexpr block blocks[] = {{64, true}, {128, false}, {256, true}};

}  // namespace

std::string apps_benchmark::help() const {
  return work_help();
}

std::vector<bench::benchmark_case> apps_benchmark::cases() const {
  std::vector<bench::benchmark_case> all;
  for (const auto& [what, size, title] : usual)
    for (const auto& [rows, by_default] : blocks)
      all.push_back({.name = fmt::format("{}-{}", name_of(what), rows),
                     .title = fmt::format("{}, {} rows, tiles of {}", title, size, rows),
                     .flags = fmt::format("-app {} -size {} -block {}", name_of(what), size, rows),
                     .by_default = by_default,
                     .group = name_of(what)});
  for (const auto& [what, size, title] : usual)
    all.push_back({.name = fmt::format("{}-random", name_of(what)),
                   .title = fmt::format("{}, {} rows, tiles of 64 to 192 rows and columns", title, size),
                   .flags = fmt::format("-app {} -size {} -block 128 -blocks random", name_of(what), size),
                   .by_default = false,
                   .group = name_of(what)});
  for (const auto& [rows, by_default] : blocks)
    all.push_back({.name = fmt::format("gemm_3d-{}", rows),
                   .title = fmt::format("C = A B in layers, 2048 rows, tiles of {}", rows),
                   .flags = fmt::format("-app gemm_3d -size 2048 -block {}", rows),
                   .by_default = false,
                   .group = "gemm_3d"});
  for (const description& app : apps_over_ways())
    for (const description::sample& each : app.cases)
      all.push_back({.name = std::string(each.name),
                     .title = std::string(each.title),
                     .flags = fmt::format("-app {} {}", app.name, each.flags),
                     .by_default = each.by_default,
                     .group = std::string(app.name)});
  return all;
}

void apps_benchmark::check(const bench::flags& of_run, bool /*in_batch*/) const {
  static_cast<void>(parse_work(of_run));
}

}  // namespace teff::apps
