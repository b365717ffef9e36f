#include "programs_benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "teff/programs/work.hpp"

namespace teff::programs {
namespace {

/// `parallel-loops`: its name on the command line.
std::string group_of(way what) {
  std::string words(name(what));
  std::ranges::replace(words, ' ', '-');
  return words;
}

}  // namespace

std::string programs_benchmark::help() const {
  return work_help();
}

std::vector<bench::benchmark_case> programs_benchmark::cases() const {
  std::vector<bench::benchmark_case> all;
  for (const description& each : catalogue()) {
    bench::benchmark_case one{.name = std::string(each.name),
                              .title = std::string(each.title),
                              .flags = fmt::format("-program {}", each.name),
                              .group = group_of(each.needs)};
    one.own["unit"] = each.unit;
    one.own["size"] = each.size(scale::usual);
    all.push_back(std::move(one));
  }
  return all;
}

void programs_benchmark::check(const bench::flags& of_run, bool /*in_batch*/) const {
  static_cast<void>(parse_work(of_run));
}

}  // namespace teff::programs
