#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "teff/apps/app.hpp"
#include "teff/apps/setting.hpp"

namespace teff::apps {

/// The flags of an app on tiles, besides -app.
struct tile_flags {
  int size = 2048;  ///< rows and columns of a matrix
  int block = 256;  ///< rows and columns of a tile; those at the end may be smaller
  block_sizes sizes = block_sizes::equal;
};

/// Adds the flags to the parser, whose values its result has once the parser has read them.
[[nodiscard]] std::shared_ptr<const tile_flags> read_tile_flags(bench::flag_parser& parser);
/// A rank's part of a problem. In one process, there are as many layers as a job with one rank for each
/// worker would have. Throws lack if the system's own program can't compute it.
[[nodiscard]] setting setting_of(const tile_flags& asked, const place& at, bool in_layers);
[[nodiscard]] bench::json parameters_of(const setting& at);

/// An app whose tasks are those of a problem on tiles: of a graph, each with its key; or else steps of one
/// iteration, which name the tiles that they read and write.
template <class Problem>
class tile_app final : public app {
 public:
  tile_app(const setting& at, const place& here)
      : problem_(at), add_up_(here.add_up), bound_(residual_bound(at.size)) {
    if (here.whole != nullptr) return;
    for (const tiled_matrix& each : problem_.written())
      for (int column = 0; column < problem_.tiles(); ++column)
        for (int row = 0; row < problem_.tiles(); ++row) {
          const std::span<double> elements = each.at(row, column).elements();
          tiles_.emplace_back(elements, static_cast<std::int64_t>(elements.size()));
        }
  }

  void reset() override { problem_.reset(); }
  void run(way& by) override {
    if (keyed_tasks* const graph = by.graph())
      run_graph(*graph);
    else
      run_steps(by);
  }
  counts run(whole_system& on, bench::region_meter& region) override { return on.run(problem_, region); }
  [[nodiscard]] finding check(way& /*by*/) override {
    return {.residual = problem_.residual(add_up_), .bound = bound_};
  }
  [[nodiscard]] double work() const override { return problem_.flops(); }
  [[nodiscard]] bench::json parameters() const override { return parameters_of(problem_.at()); }

 private:
  using task = typename Problem::task;
  static task task_of(const task_key& key) { return {key[0], key[1], key[2]}; }

  /// A task in eight bytes: a std::function keeps these and a pointer without memory of its own.
  class packed_task {
   public:
    explicit packed_task(const typename Problem::task& of)
        : step_(static_cast<std::uint32_t>(of.step)),
          row_(static_cast<std::uint16_t>(of.row)),
          column_(static_cast<std::uint16_t>(of.column)) {}
    [[nodiscard]] typename Problem::task task() const { return {static_cast<int>(step_), row_, column_}; }

   private:
    std::uint32_t step_;
    std::uint16_t row_;
    std::uint16_t column_;
  };

  void run_graph(keyed_tasks& by) {
    const auto fulfill = [&by](const task& each) { by.fulfill({each.step, each.row, each.column}); };
    graph_of_tasks all{.indegree = [this](task_key of) { return problem_.indegree(task_of(of)); },
                       .body =
                           [this, fulfill](task_key of) {
                             problem_.execute(task_of(of));
                             problem_.visit_next(task_of(of), fulfill);
                           },
                       .tasks = problem_.tasks(),
                       .number = [this](task_key of) { return problem_.number(task_of(of)); }};
    if constexpr (has_priorities) all.priority = [](task_key of) { return Problem::priority(task_of(of)); };
    by.run_graph(all, [&] { problem_.visit_first(fulfill); });
  }

  void run_steps(way& by) {
    problem_.visit_in_order([&](const task& each) {
      const packed_task kept(each);
      by.run({.name = problem_.name(each),
              .accesses = [this, kept](range, access_list& all) { name_tiles(kept.task(), all); },
              .body = [this, kept](range) { problem_.execute(kept.task()); },
              .priority = priority_from_0(each)});
    });
    by.wait();
  }
  void name_tiles(const task& of, access_list& all) const {
    all.clear();
    problem_.visit_tiles(of, [&](int matrix, int row, int column) {
      const auto rows = static_cast<std::size_t>(problem_.tiles());
      const std::size_t before = static_cast<std::size_t>(matrix) * rows + static_cast<std::size_t>(column);
      const field& tile = tiles_[before * rows + static_cast<std::size_t>(row)];
      all.push_back(all.empty() ? inout(tile) : in(tile));
    });
  }

  static constexpr bool has_priorities = requires { Problem::priority(task()); };
  [[nodiscard]] int priority_from_0(const task& of) const {
    if constexpr (has_priorities) return problem_.tiles() + Problem::priority(of);
    return 0;
  }

  Problem problem_;
  summation add_up_;
  double bound_;
  std::vector<field> tiles_;  ///< of the matrices that tasks write, column by column
};

/// As description::flags.
template <class Problem, bool InLayers = false>
description::maker read_flags_of(bench::flag_parser& parser) {
  return [asked = read_tile_flags(parser)](const place& at) {
    return std::make_unique<tile_app<Problem>>(setting_of(*asked, at, InLayers), at);
  };
}

}  // namespace teff::apps
