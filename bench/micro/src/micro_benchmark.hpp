#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "teff/bench/benchmark.hpp"

namespace teff::micro {

/// The micro-benchmarks of Cambier, Qian and Darve (2020) as a kind: its cases are empty tasks and spinning
/// ones, by dependences.
class micro_benchmark final : public bench::benchmark {
 public:
  [[nodiscard]] std::string_view name() const override { return "micro"; }
  [[nodiscard]] std::string help() const override;
  [[nodiscard]] std::vector<bench::benchmark_case> cases() const override;
  void check(const bench::flags& of_run, bool in_batch) const override;
};

}  // namespace teff::micro
