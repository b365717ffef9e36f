#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "teff/bench/benchmark.hpp"

namespace teff::messages {

/// Messages as a kind of benchmark, with these cases: sizes, windows, a chain of tasks, and two idle ranks.
class messages_benchmark final : public bench::benchmark {
 public:
  [[nodiscard]] std::string_view name() const override { return "messages"; }
  [[nodiscard]] std::string help() const override;
  [[nodiscard]] std::vector<bench::benchmark_case> cases() const override;
  void check(const bench::flags& of_run, bool in_batch) const override;
};

}  // namespace teff::messages
