#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "../catalogue.hpp"
#include "kernels.hpp"
#include "teff/apps/box.hpp"

namespace teff::apps::hpccg {
namespace {

constexpr int iterations = 149;
constexpr std::array told_iterations{0, 15, 30, 45};  // of which a record says the residual
constexpr std::int64_t block = 256;                   // rows of an iteration of a step

/// The residuals of those iterations, to six digits, as the reference prints them. 0: it is not known.
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

/// A vector with an element for each row.
struct row_vector {
  explicit row_vector(std::int64_t rows) : elements(rows), name(elements.all(), block) {}
  huge_buffer<double> elements;
  field name;
};
struct scalar {
  explicit scalar(double of = 0) : value(of) {}
  double value;
  field name{std::span(&value, 1)};
};

/// A x = b by conjugate gradients, from x = 0. An iteration of a step is a block of rows.
class solver final : public app_over_ways {
 public:
  explicit solver(const box& grid)
      : grid_(grid),
        a_(grid),
        b_(a_.rows),
        x_(a_.rows),
        r_(a_.rows),
        p_(a_.rows),
        ap_(a_.rows),
        partial_((a_.rows + block - 1) / block),
        partial_name_(partial_.all()) {
    hpccg::fill_right_side(a_, b_.elements.data(), 0, a_.rows);
  }

  void reset() override { std::ranges::fill(x_.elements.all(), 0.0); }

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

  [[nodiscard]] finding check() const override {
    row_vector ax(a_.rows);
    hpccg::multiply(a_, x_.elements.data(), ax.elements.data(), 0, a_.rows);
    double difference = 0;
    double right_side = 0;
    double solution = 0;
    for (std::int64_t i = 0; i < a_.rows; ++i) {
      const double b = b_.elements[i];
      difference += (b - ax.elements[i]) * (b - ax.elements[i]);
      right_side += b * b;
      solution += x_.elements[i] * x_.elements[i];
    }
    finding found{
        .residual = std::sqrt(difference) / (norm_of_a * std::sqrt(solution) + std::sqrt(right_side)),
        .bound = 16 * std::numeric_limits<double>::epsilon()};
    for (const int k : told_iterations) found.own["residuals"][std::to_string(k)] = residuals_.at(k);
    found.wrong = difference_to_known();
    return found;
  }

  [[nodiscard]] double work() const override {
    const auto rows = static_cast<double>(a_.rows);
    return iterations * (2 * static_cast<double>(a_.elements()) + 2 * (2 * rows) + 3 * (2 * rows));
  }
  [[nodiscard]] bench::json parameters() const override { return {{"grid", grid_}}; }

 private:
  static constexpr double norm_of_a = 27 + 26;  // the largest sum of a row's magnitudes

  [[nodiscard]] std::int64_t blocks() const { return partial_name_.count; }

  /// ap := A p
  void multiply(way& by) {
    by.run(
        {.name = "sparsemv",
         .count = blocks(),
         .accesses = [this](range some,
                            access_list& all) { all = {in(p_.name, some, a_.reach), out(ap_.name, some)}; },
         .body =
             [this](range some) {
               const range rows = covered(p_.name, some);
               hpccg::multiply(a_, p_.elements.data(), ap_.elements.data(), rows.begin, rows.end);
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
                  hpccg::add_multiple(x.elements.data(), factor.value, y.elements.data(), w.elements.data(),
                                      rows.begin, rows.end);
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
                    partial_[i] = hpccg::dot(x.elements.data(), y.elements.data(), rows.begin, rows.end);
                  }
                }});
  }
  [[nodiscard]] double sum_of_blocks() const {
    double all = 0;
    for (const double each : partial_.all()) all += each;
    return all;
  }

  /// rr := r . r, and beta := rr / the rr before
  void square_residual(way& by, int iteration) {
    multiply_blocks(by, r_, r_);
    by.run(
        {.name = "sum",
         .accesses =
             [this](range, access_list& all) { all = {in(partial_name_), inout(rr_.name), out(beta_.name)}; },
         .body =
             [this, iteration](range) {
               const double before = iteration == 0 ? 0 : rr_.value;
               rr_.value = sum_of_blocks();
               beta_.value = before > 0 ? rr_.value / before : 0;  // 0: r is zero, and stays so
               residuals_.at(static_cast<std::size_t>(iteration)) = std::sqrt(rr_.value);
             }});
  }
  /// alpha := rr / (p . A p)
  void find_step_length(way& by) {
    multiply_blocks(by, p_, ap_);
    by.run({.name = "sum",
            .accesses =
                [this](range, access_list& all) {
                  all = {in(partial_name_), in(rr_.name), out(alpha_.name), out(minus_alpha_.name)};
                },
            .body =
                [this](range) {
                  const double product = sum_of_blocks();
                  alpha_.value = product > 0 ? rr_.value / product : 0;
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
  hpccg::matrix a_;
  row_vector b_;
  row_vector x_;
  row_vector r_;
  row_vector p_;
  row_vector ap_;
  huge_buffer<double> partial_;
  field partial_name_;
  scalar zero_;
  scalar minus_one_{-1};
  scalar rr_;
  scalar beta_;
  scalar alpha_;
  scalar minus_alpha_;
  std::array<double, iterations + 1> residuals_{};
};

description::maker read_flags(CLI::App& parser) {
  const auto grid = std::make_shared<std::string>("32x32x32");
  parser.add_option("--grid", *grid, "points of the grid in each direction; a point is a row of the matrix")
      ->check(fault_of_box)
      ->option_text("NXxNYxNZ");
  return [grid] { return std::make_unique<solver>(box_of(*grid)); };
}

}  // namespace

description describe() {
  return {.name = "hpccg",
          .title = "A x = b by conjugate gradients, 27-point stencil",
          .unit = "FLOP",
          .ways = {way_kind::worksharing, way_kind::loops, way_kind::tasks},
          .cases = {{"hpccg-32", "conjugate gradients, 32 x 32 x 32 points", "-grid 32x32x32"},
                    {"hpccg-64", "conjugate gradients, 64 x 64 x 64 points", "-grid 64x64x64", false}},
          .flags = &read_flags};
}

}  // namespace teff::apps::hpccg
