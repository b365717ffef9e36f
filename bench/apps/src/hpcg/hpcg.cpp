#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>

#include "hpcg/checks.hpp"
#include "hpcg/known.hpp"
#include "hpcg/problem.hpp"
#include "hpcg/solve.hpp"
#include "teff/apps/app.hpp"

namespace teff::apps::hpcg {
namespace {

/// Fifty iterations on a cube, or a rank's part of them.
class solver final : public app {
 public:
  solver(int side, const place& at) : problem_(domain_of({side, side, side}, at.rank, at.ranks)) {}

  void reset() override {
    reached_ = {};
    std::ranges::fill(problem_.x, 0.0);
  }
  void run(way& by) override { reached_ = solution(problem_, by).solve(); }

  /// All ranks make all checks, because these communicate.
  [[nodiscard]] finding check(way& by) override {
    constexpr double rounding = 1e-13;
    finding found{.residual = recomputed_residual(problem_, by),
                  .bound = rounding + reached_.scaled_residual,
                  .own = {{"scaled_residual", reached_.scaled_residual}}};
    const double of_operator = asymmetry_of_operator(problem_, by);
    const double of_preconditioner = asymmetry_of_preconditioner(problem_, by);
    const int iterations = iterations_with_large_diagonal(problem_, by, false);
    const int preconditioned = iterations_with_large_diagonal(problem_, by, true);
    if (reached_.iterations != limits{}.iterations)
      found.wrong =
          fmt::format("there were {} iterations: there must be {}", reached_.iterations, limits{}.iterations);
    else if (!(of_operator <= 1))
      found.wrong = "the matrix is not symmetric";
    else if (!(of_preconditioner <= 1))
      found.wrong = "the preconditioner is not symmetric";
    else if (iterations > 12 || preconditioned > 2)
      found.wrong = fmt::format(
          "a large diagonal takes {} iterations, with a preconditioner {}: it must take at most 12, and 2",
          iterations, preconditioned);
    else
      found.wrong = difference_to_known();
    return found;
  }

  [[nodiscard]] double work() const override { return flops(problem_, limits{}.iterations); }
  [[nodiscard]] bench::json parameters() const override { return {{"size", whole().x}}; }

 private:
  [[nodiscard]] box whole() const { return problem_.finest().part.whole(); }
  /// Of one rank: a sweep of Gauss-Seidel ends at a rank's border.
  [[nodiscard]] std::string difference_to_known() const {
    const auto* const known = std::ranges::find(all_known, whole().x, &known::side);
    constexpr double tolerance = 1e-5;
    if (problem_.finest().part.ranks.rows() > 1 || known == std::end(all_known) ||
        std::abs(reached_.scaled_residual / known->residual - 1) <= tolerance)
      return {};
    return fmt::format("the scaled residual is {:.6g}: it must be {:.6g}", reached_.scaled_residual,
                       known->residual);
  }

  problem problem_;
  outcome reached_;
};

}  // namespace

description::maker read_flags(bench::flag_parser& parser) {
  constexpr int largest = 400;
  const auto side = std::make_shared<int>(32);
  parser
      .add("--size", *side, "points along a side of the cube that ranks share; a rank needs a multiple of 8")
      .within(8, largest)
      .takes("COUNT");
  return [side](const place& at) { return std::make_unique<solver>(*side, at); };
}

}  // namespace teff::apps::hpcg

namespace teff::apps {

description describe_hpcg() {
  return {
      .name = "hpcg",
      .title = "A x = b by conjugate gradients with a multigrid preconditioner (HPCG 3.1)",
      .unit = "FLOP",
      .ways = {way_kind::loops, way_kind::worksharing, way_kind::tasks},
      .cases = {{"hpcg-16",
                 "preconditioned conjugate gradients, 16 x 16 x 16 points",
                 "-size 16",
                 true,
                 {1, 2, 8}},
                {"hpcg-32", "preconditioned conjugate gradients, 32 x 32 x 32 points", "-size 32", false},
                {"hpcg-64", "preconditioned conjugate gradients, 64 x 64 x 64 points", "-size 64", false}},
      .own = {{"scaled_residual", "||r|| / ||b|| after the last iteration"}},
      .residual = "||b - A x|| / ||b||, computed again",
      .flags = &hpcg::read_flags};
}

}  // namespace teff::apps
