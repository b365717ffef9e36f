#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels.hpp"
#include "teff/apps/app.hpp"
#include "teff/apps/box.hpp"
#include "teff/bench/failure.hpp"

namespace teff::apps::hpccg {
namespace {

constexpr int iterations = 149;
constexpr std::array told_iterations{0, 15, 30, 45};  // of which a record says the residual
constexpr std::int64_t block = 256;                   // rows of an iteration of a step

/// The residuals of those iterations, to six digits, as the reference prints them. 0: it
/// is not known.
struct known_run {
  box grid;
  std::array<double, told_iterations.size()> residuals;
};
constexpr known_run known_runs[] = {{{10, 10, 10}, {258.24, 2.15402e-6}},
                                    {{32, 32, 32}, {813.855, 6.24995, 1.63788e-3, 7.8367e-8}},
                                    {{64, 64, 64}, {1654.81, 19.7523, 0.107645, 2.29062e-4}}};

/// Whether both are the same in six digits.
bool agree(double found, double known) {
  return std::abs(found - known) <= 0.501 * std::pow(10, std::floor(std::log10(known)) - 5);
}

/// A vector with an element for each row. A vector that is multiplied has elements of the neighbours, too.
struct row_vector {
  explicit row_vector(std::int64_t rows, std::int64_t below = 0, std::int64_t above = 0)
      : all(below + rows + above),
        own(all.data() + below),
        name(std::span(own, static_cast<std::size_t>(rows)), block),
        name_below(std::span(all).first(static_cast<std::size_t>(below)), std::max<std::int64_t>(below, 1)),
        name_above(std::span(all).last(static_cast<std::size_t>(above)), std::max<std::int64_t>(above, 1)) {}
  huge_vector<double> all;
  double* own;
  field name;
  field name_below;
  field name_above;
};
struct scalar {
  explicit scalar(double of = 0) : value(of) {}
  double value;
  field name{std::span(&value, 1)};
};

/// A x = b by conjugate gradients, from x = 0. An iteration of a step is a block of rows.
class solver final : public app {
 public:
  solver(const box& grid, const place& at)
      : grid_(grid),
        at_(at),
        a_(part_of(grid, at), at.rank > 0, at.rank + 1 < at.ranks),
        b_(a_.rows),
        x_(a_.rows),
        r_(a_.rows),
        p_(a_.rows, a_.below, a_.above),
        ap_(a_.rows),
        partial_((a_.rows + block - 1) / block),
        partial_name_(std::span(partial_)) {
    hpccg::fill_right_side(a_, b_.own, 0, a_.rows);
  }

  void reset() override { std::ranges::fill(x_.all, 0.0); }

  void run(way& by) override {
    add_multiple(by, x_, zero_, x_, p_);
    multiply(by);
    add_multiple(by, b_, minus_one_, ap_, r_);
    square_residual(by, 0);
    for (int k = 1; k <= iterations; ++k) {
      if (k > 1) square_residual(by, k);
      add_multiple(by, r_, beta_, p_, p_);
      multiply(by);
      find_step_length(by);
      add_multiple(by, x_, alpha_, p_, x_);
      add_multiple(by, r_, minus_alpha_, ap_, r_);
    }
    by.wait();
  }

  /// Multiplies A and x again.
  [[nodiscard]] finding check(way& by) override {
    add_multiple(by, x_, zero_, x_, p_);
    multiply(by);
    by.wait();
    std::array<double, 3> squares{};
    for (std::int64_t i = 0; i < a_.rows; ++i) {
      squares[0] += (b_.own[i] - ap_.own[i]) * (b_.own[i] - ap_.own[i]);
      squares[1] += x_.own[i] * x_.own[i];
      squares[2] += b_.own[i] * b_.own[i];
    }
    const field name{std::span<double>(squares)};
    by.over().reduce(name, reduction::sum);
    by.wait();
    finding found{
        .residual = std::sqrt(squares[0]) / (norm_of_a * std::sqrt(squares[1]) + std::sqrt(squares[2])),
        .bound = 16 * std::numeric_limits<double>::epsilon()};
    for (const int k : told_iterations) found.own["residuals"][std::to_string(k)] = residuals_.at(k);
    found.wrong = difference_to_known();
    return found;
  }

  [[nodiscard]] double work() const override {
    const auto rows = static_cast<double>(volume(grid_));
    const double elements = (3.0 * grid_[0] - 2) * (3.0 * grid_[1] - 2) * (3.0 * grid_[2] - 2);
    return iterations * (2 * elements + 2 * (2 * rows) + 3 * (2 * rows));
  }
  [[nodiscard]] bench::json parameters() const override { return {{"grid", grid_}}; }

 private:
  static constexpr double norm_of_a = 27 + 26;  // the largest sum of a row's magnitudes

  /// Each rank has as many planes as the others, or one more.
  [[nodiscard]] static box part_of(const box& grid, const place& at) {
    if (grid[2] < at.ranks)
      throw bench::usage_error(fmt::format("-grid {}x{}x{}: {} ranks share at least {} planes; start fewer",
                                           grid[0], grid[1], grid[2], at.ranks, at.ranks));
    return {grid[0], grid[1], static_cast<int>(cut(grid[2], at.ranks).part(at.rank).size())};
  }
  [[nodiscard]] std::int64_t blocks() const { return partial_name_.count; }

  /// ap := A p
  void multiply(way& by) {
    const auto plane = [this](std::int64_t begin) {
      return field_access{access_mode::in, &p_.name, {begin, begin + a_.plane}};
    };
    std::vector<crossing> all;
    if (a_.below > 0) all.push_back({at_.rank - 1, plane(0), out(p_.name_below)});
    if (a_.above > 0) all.push_back({at_.rank + 1, plane(a_.rows - a_.plane), out(p_.name_above)});
    by.over().exchange(all);
    by.run({.name = "sparsemv",
            .count = blocks(),
            .accesses =
                [this](range some, access_list& named) {
                  named = {in(p_.name, some, a_.reach), out(ap_.name, some)};
                  const range rows = covered(p_.name, some);
                  if (rows.begin < a_.below) named.push_back(in(p_.name_below));
                  if (rows.end > a_.rows - a_.above) named.push_back(in(p_.name_above));
                },
            .body =
                [this](range some) {
                  const range rows = covered(p_.name, some);
                  hpccg::multiply(a_, p_.all.data(), ap_.own, rows.begin, rows.end);
                }});
  }
  /// w := x + factor y
  void add_multiple(way& by, const row_vector& x, const scalar& factor, const row_vector& y,
                    const row_vector& w) {
    by.run({.name = "waxpby",
            .count = blocks(),
            .accesses =
                [&x, &factor, &y, &w](range some, access_list& all) {
                  all = {in(x.name, some), in(y.name, some), in(factor.name), out(w.name, some)};
                },
            .body =
                [&x, &factor, &y, &w](range some) {
                  const range rows = covered(w.name, some);
                  hpccg::add_multiple(x.own, factor.value, y.own, w.own, rows.begin, rows.end);
                }});
  }
  /// partial := x . y, a product a block
  void multiply_blocks(way& by, const row_vector& x, const row_vector& y) {
    by.run({.name = "ddot",
            .count = blocks(),
            .accesses =
                [this, &x, &y](range some, access_list& all) {
                  all = {in(x.name, some), in(y.name, some), out(partial_name_, some)};
                },
            .body =
                [this, &x, &y](range some) {
                  for (std::int64_t i = some.begin; i < some.end; ++i) {
                    const range rows = covered(x.name, {i, i + 1});
                    partial_[i] = hpccg::dot(x.own, y.own, rows.begin, rows.end);
                  }
                }});
  }
  [[nodiscard]] double sum_of_blocks() const {
    double all = 0;
    for (const double each : partial_) all += each;
    return all;
  }

  /// sum := the sum of the partial results of all ranks
  void add_up_blocks(way& by) {
    by.run({.name = "sum",
            .accesses = [this](range, access_list& all) { all = {in(partial_name_), out(sum_.name)}; },
            .body = [this](range) { sum_.value = sum_of_blocks(); }});
    by.over().reduce(sum_.name, reduction::sum);
  }
  /// rr := r . r, and beta := rr / the rr before
  void square_residual(way& by, int iteration) {
    multiply_blocks(by, r_, r_);
    add_up_blocks(by);
    by.run({.name = "scalars",
            .accesses = [this](range,
                               access_list& all) { all = {in(sum_.name), inout(rr_.name), out(beta_.name)}; },
            .body =
                [this, iteration](range) {
                  const double before = iteration == 0 ? 0 : rr_.value;
                  rr_.value = sum_.value;
                  beta_.value = before > 0 ? rr_.value / before : 0;  // 0: r is zero, and stays so
                  residuals_.at(static_cast<std::size_t>(iteration)) = std::sqrt(rr_.value);
                }});
  }
  /// alpha := rr / (p . A p)
  void find_step_length(way& by) {
    multiply_blocks(by, p_, ap_);
    add_up_blocks(by);
    by.run({.name = "scalars",
            .accesses =
                [this](range, access_list& all) {
                  all = {in(sum_.name), in(rr_.name), out(alpha_.name), out(minus_alpha_.name)};
                },
            .body =
                [this](range) {
                  alpha_.value = sum_.value > 0 ? rr_.value / sum_.value : 0;
                  minus_alpha_.value = -alpha_.value;
                }});
  }

  [[nodiscard]] std::string difference_to_known() const {
    for (const known_run& known : known_runs)
      for (std::size_t i = 0; known.grid == grid_ && i < told_iterations.size(); ++i) {
        const double found = residuals_.at(static_cast<std::size_t>(told_iterations.at(i)));
        if (known.residuals.at(i) > 0 && !agree(found, known.residuals.at(i)))
          return fmt::format("the residual of iteration {} is {:.6g}: it must be {:.6g}",
                             told_iterations.at(i), found, known.residuals.at(i));
      }
    return {};
  }

  box grid_;
  place at_;
  hpccg::matrix a_;
  row_vector b_;
  row_vector x_;
  row_vector r_;
  row_vector p_;
  row_vector ap_;
  huge_vector<double> partial_;
  field partial_name_;
  scalar zero_;
  scalar minus_one_{-1};
  scalar sum_;
  scalar rr_;
  scalar beta_;
  scalar alpha_;
  scalar minus_alpha_;
  std::array<double, iterations + 1> residuals_{};
};

}  // namespace

description::maker read_flags(bench::flag_parser& parser) {
  const auto grid = std::make_shared<std::string>("32x32x32");
  parser
      .add("--grid", *grid,
           "points of the grid in each direction, of which ranks share the third; a point is a row of "
           "the matrix")
      .checked_by(fault_of_box)
      .takes("NXxNYxNZ");
  return [grid](const place& at) { return std::make_unique<solver>(box_of(*grid), at); };
}

}  // namespace teff::apps::hpccg

namespace teff::apps {

description describe_hpccg() {
  return {
      .name = "hpccg",
      .title = "A x = b by conjugate gradients, 27-point stencil",
      .unit = "FLOP",
      .ways = {way_kind::loops, way_kind::worksharing, way_kind::tasks},
      .cases = {{"hpccg-32", "conjugate gradients, 32 x 32 x 32 points", "-grid 32x32x32"},
                {"hpccg-64", "conjugate gradients, 64 x 64 x 64 points", "-grid 64x64x64", false},
                {"hpccg-10", "conjugate gradients, 10 x 10 x 10 points", "-grid 10x10x10", false, {1, 2, 3}},
                {"hpccg-7x30x10",
                 "conjugate gradients, 7 x 30 x 10 points, steps of three tasks",
                 "-grid 7x30x10 -tasks 3",
                 false,
                 {1}}},
      .own = {{"residuals", "the norm of the residual after some iterations, by the iteration"}},
      .residual = "||b - A x|| / (||A|| ||x|| + ||b||), of the solution",
      .flags = &hpccg::read_flags};
}

}  // namespace teff::apps
