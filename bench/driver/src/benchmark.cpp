#include "teff/bench/benchmark.hpp"

namespace teff::bench {

std::string cases_json(const benchmark& kind) {
  std::string lines;
  for (const benchmark_case& each : kind.cases()) {
    json line{{"name", each.name},          {"title", each.title}, {"flags", each.flags},
              {"default", each.by_default}, {"group", each.group}, {"workers", each.workers}};
    line.update(each.own);
    lines += line.dump() + '\n';
  }
  return lines;
}

}  // namespace teff::bench
