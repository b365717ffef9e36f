#pragma once

#include <string_view>

#include "teff/bench/benchmark.hpp"

namespace teff::wake {

/// Wake and park as a kind of benchmark: its cases are times without work, in which a worker spins or has
/// gone to sleep.
class wake_benchmark final : public bench::benchmark {
 public:
  [[nodiscard]] std::string_view name() const override { return "wake"; }
  [[nodiscard]] std::string help() const override;
  [[nodiscard]] std::vector<bench::benchmark_case> cases() const override;
  void check(const bench::flags& of_run, bool in_batch) const override;
};

}  // namespace teff::wake
