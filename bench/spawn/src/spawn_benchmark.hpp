#pragma once

#include <string_view>

#include "teff/bench/benchmark.hpp"

namespace teff::spawn {

/// The spawn patterns as a kind of benchmark: its cases are the patterns, the tree search once for each
/// published tree.
class spawn_benchmark final : public bench::benchmark {
 public:
  [[nodiscard]] std::string_view name() const override { return "spawn"; }
  [[nodiscard]] std::string help() const override;
  [[nodiscard]] std::vector<bench::benchmark_case> cases() const override;
  void check(const bench::flags& of_run, bool in_batch) const override;
};

}  // namespace teff::spawn
