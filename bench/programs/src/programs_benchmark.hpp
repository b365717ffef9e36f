#pragma once

#include <string_view>

#include "teff/bench/benchmark.hpp"

namespace teff::programs {

/// Real programs as a kind of benchmark: each program is a case.
class programs_benchmark final : public bench::benchmark {
 public:
  [[nodiscard]] std::string_view name() const override { return "programs"; }
  [[nodiscard]] std::string help() const override;
  [[nodiscard]] std::vector<bench::benchmark_case> cases() const override;
  void check(const bench::flags& of_run, bool in_batch) const override;
};

}  // namespace teff::programs
