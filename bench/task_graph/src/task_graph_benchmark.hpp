#pragma once

#include <string_view>

#include "teff/bench/benchmark.hpp"
#include "teff/graphs/record.hpp"

namespace teff::graphs {

constexpr std::string_view benchmark_name = "task_graph";

/// Task graphs as a kind of benchmark: its cases are the patterns of dependence.
class task_graph_benchmark final : public bench::benchmark {
 public:
  [[nodiscard]] std::string_view name() const override { return benchmark_name; }
  [[nodiscard]] std::string help() const override { return configuration_help(); }
  [[nodiscard]] std::vector<bench::benchmark_case> cases() const override;
  [[nodiscard]] bench::json further_identity() const override;
  void check(const bench::flags& of_run, bool in_batch) const override;
  [[nodiscard]] std::string introduction(const bench::flags& of_run) const override;
};

[[nodiscard]] bench::record to_record(const record& run);
/// The record, or the report where that was asked for.
[[nodiscard]] bench::answer to_answer(const record& run);

}  // namespace teff::graphs
