#include "hpcg/solve.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "hpcg/kernels.hpp"

namespace teff::apps::hpcg {
namespace {

constexpr std::int64_t block = 256;  // rows of an iteration of a step

field named(std::vector<double>& rows) {
  return field(std::span(rows), block);
}

/// The columns of a row are at most so far from the row.
std::int64_t reach(const box& points) {
  return std::int64_t{points.x} * points.y + points.x + 1;
}

/// The elements from `begin` to `end - 1` that a field has.
field_access in_rows(const field& of, std::int64_t begin, std::int64_t end) {
  return {access_mode::in, &of, {std::max<std::int64_t>(begin, 0), std::min(end, of.count)}};
}

/// The rows of the finer level from the first to the last point that the blocks share with it.
range finer_rows(const level& coarse, range blocks) {
  const std::int64_t last = std::min<std::int64_t>(blocks.end * block, coarse.rows()) - 1;
  return {coarse.finer[std::size_t(blocks.begin * block)], coarse.finer[std::size_t(last)] + 1};
}

/// A unit's update reads the unit's own rows, and all rows from the line before to the line behind it in its
/// plane and in both planes beside it.
void name_unit(const level& at, std::int64_t unit, const field& r, const field& x, access_list& all) {
  const std::int64_t begin = at.order.rows[std::size_t(unit * at.order.unit)];
  const std::int64_t end = begin + at.order.unit;
  const std::int64_t line = at.points.x;
  const std::int64_t plane = line * at.points.y;
  all.push_back({access_mode::in, &r, {begin, end}});
  all.push_back({access_mode::inout, &x, {begin, end}});
  for (const std::int64_t beside : {-plane, std::int64_t{0}, plane})
    if (const field_access read = in_rows(x, begin + beside - line, end + beside + line);
        read.elements.size() > 0)
      all.push_back(read);
}

}  // namespace

solution::solution(problem& of, way& by)
    : of_(of),
      by_(by),
      x_(named(of.x)),
      p_(named(of.p)),
      ap_(named(of.ap)),
      terms_(named(of.terms)),
      scalars_(std::span(&of.alpha, 1)) {
  for (level& each : of.levels) levels_.push_back({named(each.r), named(each.x)});
}

template <class Kernel>
void solution::run_blocks(std::string_view name, std::int64_t rows, access_finder accesses, Kernel kernel) {
  by_.run(
      {.name = name,
       .count = (rows + block - 1) / block,
       .accesses = std::move(accesses),
       .body = [rows, kernel](range some) { kernel(some.begin * block, std::min(some.end * block, rows)); }});
}

template <class Term>
void solution::add_up(std::string_view name, const access_finder& accesses, Term term,
                      std::function<void(double)> use) {
  run_blocks(
      name, of_.rows(),
      [this, accesses](range some, access_list& all) {
        accesses(some, all);
        all.push_back(out(terms_, some));
      },
      [this, term](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row)
          of_.terms[std::size_t(row)] = term(of_, row, row + 1);
      });
  by_.run({.name = "sum",
           .accesses = [this](range, access_list& all) { all = {in(terms_), inout(scalars_)}; },
           .body =
               [this, use = std::move(use)](range) {
                 double sum = 0;
                 for (const double each : of_.terms) sum += each;
                 use(sum);
               }});
}

template <class Kernel>
void solution::smooth_set(std::size_t depth, std::size_t set, Kernel kernel) {
  level& at = of_.levels[depth];
  const names& name = levels_[depth];
  const std::int64_t first = at.order.first[set];
  by_.run({.name = "smooth",
           .count = at.order.first[set + 1] - first,
           .accesses =
               [&at, &name, first](range some, access_list& all) {
                 all.clear();
                 for (std::int64_t unit = some.begin; unit < some.end; ++unit)
                   name_unit(at, first + unit, name.r, name.x, all);
               },
           .body = [&at, first, kernel](range some) { kernel(at, first + some.begin, first + some.end); }});
}

void solution::smooth(std::size_t depth) {
  const std::size_t sets = of_.levels[depth].order.sets();
  for (std::size_t set = 0; set < sets; ++set) smooth_set(depth, set, smooth_forwards);
  for (std::size_t set = sets; set-- > 0;) smooth_set(depth, set, smooth_backwards);
}

void solution::precondition(std::size_t depth) {
  level& at = of_.levels[depth];
  const names& name = levels_[depth];
  run_blocks(
      "clear", at.rows(), [&name](range some, access_list& all) { all = {out(name.x, some)}; },
      [&at](std::int64_t begin, std::int64_t end) { clear(at, begin, end); });
  smooth(depth);
  if (depth + 1 == levels_.size()) return;
  level& coarse = of_.levels[depth + 1];
  const names& coarse_name = levels_[depth + 1];
  run_blocks(
      "restrict", coarse.rows(),
      [&at, &coarse, &name, &coarse_name](range some, access_list& all) {
        const range fine = finer_rows(coarse, some);
        const std::int64_t more = reach(at.points);
        all = {in_rows(name.r, fine.begin, fine.end), in_rows(name.x, fine.begin - more, fine.end + more),
               out(coarse_name.r, some)};
      },
      [&at, &coarse](std::int64_t begin, std::int64_t end) { restrict_residual(at, coarse, begin, end); });
  precondition(depth + 1);
  run_blocks(
      "correct", coarse.rows(),
      [&coarse, &name, &coarse_name](range some, access_list& all) {
        all = {in(coarse_name.x, some), {access_mode::inout, &name.x, finer_rows(coarse, some)}};
      },
      [&at, &coarse](std::int64_t begin, std::int64_t end) { correct(coarse, at, begin, end); });
  smooth(depth);
}

void solution::apply(std::function<void(double)> use) {
  add_up(
      "apply",
      [this](range some, access_list& all) {
        all = {in(p_, some, reach(of_.finest().points)), out(ap_, some)};
      },
      hpcg::apply, std::move(use));
}

void solution::iterate(bool preconditioned) {
  const names& finest = levels_.front();
  if (preconditioned)
    precondition();
  else
    run_blocks(
        "copy", of_.rows(),
        [&finest](range some, access_list& all) { all = {in(finest.r, some), out(finest.x, some)}; },
        [this](std::int64_t begin, std::int64_t end) { copy_residual(of_, begin, end); });
  add_up(
      "product", [&finest](range some, access_list& all) { all = {in(finest.r, some), in(finest.x, some)}; },
      residual_product,
      [this](double rz) {
        of_.beta = rz_ > 0 ? rz / rz_ : 0;  // 0: this is the first iteration, or r is zero
        rz_ = rz;
      });
  run_blocks(
      "turn", of_.rows(),
      [this, &finest](range some, access_list& all) {
        all = {in(finest.x, some), in(scalars_), inout(p_, some)};
      },
      [this](std::int64_t begin, std::int64_t end) { turn(of_, begin, end); });
  apply([this](double p_ap) { of_.alpha = p_ap > 0 ? rz_ / p_ap : 0; });
  add_up(
      "step",
      [this, &finest](range some, access_list& all) {
        all = {in(p_, some), in(ap_, some), in(scalars_), inout(x_, some), inout(finest.r, some)};
      },
      hpcg::step,
      [this](double rr) {
        reached_.scaled_residual = std::sqrt(rr) / norm_of_b_;
        ++reached_.iterations;
      });
}

outcome solution::solve(const limits& until) {
  reached_ = {};
  rz_ = 0;
  add_up(
      "start", [this](range some, access_list& all) { all = {out(x_, some), out(levels_.front().r, some)}; },
      start, [this](double bb) { norm_of_b_ = std::sqrt(bb); });
  for (int i = 0; i < until.iterations; ++i) {
    iterate(until.preconditioned);
    if (until.tolerance == 0) continue;
    by_.wait();
    if (reached_.scaled_residual <= until.tolerance) break;
  }
  by_.wait();
  return reached_;
}

}  // namespace teff::apps::hpcg
