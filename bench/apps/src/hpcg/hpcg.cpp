#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "catalogue.hpp"
#include "hpcg/checks.hpp"
#include "hpcg/known.hpp"
#include "hpcg/problem.hpp"
#include "hpcg/solve.hpp"

namespace teff::apps::hpcg {
namespace {

/// Fifty iterations on a cube. The sweeps of the preconditioner go by wavefronts.
class solver final : public app_over_ways {
 public:
  explicit solver(int side) : problem_({side, side, side}, sweep::wavefronts) {}

  void reset() override {
    reached_ = {};
    std::ranges::fill(problem_.x, 0.0);
  }
  void run(way& by) override { reached_ = solution(problem_, by).solve(); }

  /// Computes || b - A x || / || b || again, and whether the matrix and the preconditioner are symmetric.
  [[nodiscard]] finding check(way& by) override {
    constexpr double rounding = 1e-13;
    finding found{.residual = recomputed_residual(problem_),
                  .bound = rounding + reached_.scaled_residual,
                  .own = {{"scaled_residual", reached_.scaled_residual}}};
    const auto* const known = std::ranges::find(all_known, problem_.finest().points.x, &known::side);
    constexpr double tolerance = 1e-5;
    if (known != std::end(all_known) &&
        !(std::abs(reached_.scaled_residual / known->residual - 1) <= tolerance))
      found.wrong = fmt::format("the scaled residual is {:.6g}: it must be {:.6g}", reached_.scaled_residual,
                                known->residual);
    else if (!(asymmetry_of_operator(problem_, by) <= 1))
      found.wrong = "the matrix is not symmetric";
    else if (!(asymmetry_of_preconditioner(problem_, by) <= 1))
      found.wrong = "the preconditioner is not symmetric";
    return found;
  }

  [[nodiscard]] double work() const override { return flops(problem_, limits{}.iterations); }
  [[nodiscard]] bench::json parameters() const override { return {{"size", problem_.finest().points.x}}; }

 private:
  problem problem_;
  outcome reached_;
};

description::maker read_flags(CLI::App& parser) {
  constexpr int largest = 400;
  const auto side = std::make_shared<int>(32);
  parser.add_option("--size", *side, "points along a side of the cube, a multiple of 8")
      ->check(CLI::Range(8, largest))
      ->option_text("COUNT");
  return [side](const place&) { return std::make_unique<solver>(*side); };
}

}  // namespace

description describe() {
  return {
      .name = "hpcg",
      .title = "A x = b by conjugate gradients with a multigrid preconditioner (HPCG 3.1)",
      .unit = "FLOP",
      .ways = {way_kind::loops, way_kind::worksharing, way_kind::tasks},
      .cases = {{"hpcg-16", "preconditioned conjugate gradients, 16 x 16 x 16 points", "-size 16"},
                {"hpcg-32", "preconditioned conjugate gradients, 32 x 32 x 32 points", "-size 32", false},
                {"hpcg-64", "preconditioned conjugate gradients, 64 x 64 x 64 points", "-size 64", false}},
      .over_ranks = false,
      .flags = &read_flags};
}

}  // namespace teff::apps::hpcg
