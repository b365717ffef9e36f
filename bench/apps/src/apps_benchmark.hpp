#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "teff/bench/benchmark.hpp"

namespace teff::apps {

/// Mini-apps as a kind of benchmark: its cases are apps at several sizes of tile.
class apps_benchmark final : public bench::benchmark {
 public:
  [[nodiscard]] std::string_view name() const override { return "apps"; }
  [[nodiscard]] std::string help() const override;
  [[nodiscard]] std::vector<bench::benchmark_case> cases() const override;
  void check(const bench::flags& of_run, bool in_batch) const override;
};

}  // namespace teff::apps
