#include "hpcg/solve.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "hpcg/kernels.hpp"

namespace teff::apps::hpcg {
namespace {

constexpr std::int64_t block = 256;  // rows of an iteration of a step

field named(std::vector<double>& rows) {
  return field(std::span(rows), block);
}
field named_own(std::vector<double>& elements, std::int64_t rows) {
  return field(std::span(elements).first(std::size_t(rows)), block);
}
field named_ghosts(std::vector<double>& elements, std::int64_t rows) {
  return field(std::span(elements).subspan(std::size_t(rows)));
}

/// The columns of a row that are no ghosts are at most so far from the row.
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

/// The ghosts that some rows read.
void name_ghosts(const level& at, range rows, const field& ghosts, access_list& all) {
  for (const halo::message& each : at.around.messages)
    if (rows.begin < each.readers.end && each.readers.begin < rows.end)
      all.push_back({access_mode::in, &ghosts, each.elements});
}

/// A tile's update writes the tile's rows, and reads lines of the tiles around. Its accesses name all lines
/// that those tiles have in the same planes. A data flow has less work with ranges that begin and end where
/// tiles do.
void name_tile(const level& at, const visiting::tile& tile, const field& r, const shared_vector& x,
               access_list& all) {
  const visiting& by = at.order;
  const int column = tile.column;
  const int first = by.first_plane(tile);
  const int end = by.end_plane(tile);
  const auto read = [&](int begin_column, int end_column, int z) {
    if (z < 0 || z >= by.points.z) return;
    if (const range rows = by.rows(begin_column, end_column, z); rows.size() > 0)
      all.push_back({access_mode::in, &x.own, rows});
  };
  for (int z = first; z < end; ++z) {
    read(column - 1, column, z);
    read(column + 1, column + 2, z);
    const range own = by.rows(column, column + 1, z);
    if (own.size() == 0) continue;
    all.push_back({access_mode::in, &r, own});
    all.push_back({access_mode::inout, &x.own, own});
  }
  const int beside = by.edge == 1 ? 2 : 1;  // y + z differs by up to two from plane to plane
  read(column - beside, column + 1, first - 1);
  read(column, column + 1 + beside, end);
  const range hull{by.rows(column, column + 1, first).begin, by.rows(column, column + 1, end - 1).end};
  name_ghosts(at, hull, x.ghosts, all);
}

}  // namespace

solution::solution(problem& of, way& by)
    : of_(of),
      by_(by),
      x_(named(of.x)),
      p_{of.p, named_own(of.p, of.rows()), named_ghosts(of.p, of.rows())},
      ap_(named(of.ap)),
      terms_(named(of.terms)),
      sum_name_(std::span(&sum_, 1)),
      scalars_(std::span(&of.alpha, 1)) {
  for (level& each : of.levels)
    levels_.push_back({.r = named(each.r),
                       .x = {each.x, named_own(each.x, each.rows()), named_ghosts(each.x, each.rows())},
                       .sent = field(std::span(each.sent))});
}

template <class Kernel>
void solution::run_blocks(std::string_view name, std::int64_t rows, access_finder accesses, Kernel kernel) {
  by_.run(
      {.name = name,
       .count = (rows + block - 1) / block,
       .accesses = std::move(accesses),
       .body = [rows, kernel](range some) { kernel(some.begin * block, std::min(some.end * block, rows)); }});
}

void solution::add_up(std::string_view name, const access_finder& accesses, kernel_of_terms kernel,
                      std::function<void(double)> use) {
  run_blocks(
      name, of_.rows(),
      [this, accesses](range some, access_list& all) {
        accesses(some, all);
        all.push_back(out(terms_, some));
      },
      [this, kernel](std::int64_t begin, std::int64_t end) { kernel(of_, begin, end); });
  by_.run({.name = "sum",
           .accesses = [this](range, access_list& all) { all = {in(terms_), out(sum_name_)}; },
           .body = [this](range) { sum_ = std::accumulate(of_.terms.begin(), of_.terms.end(), 0.0); }});
  by_.over().reduce(sum_name_, reduction::sum);
  by_.run({.name = "scalars",
           .accesses = [this](range, access_list& all) { all = {in(sum_name_), inout(scalars_)}; },
           .body = [this, use = std::move(use)](range) { use(sum_); }});
}

void solution::cross(std::size_t depth, const shared_vector& of) {
  level& at = of_.levels[depth];
  const field& sent = levels_[depth].sent;
  const std::vector<halo::message>& messages = at.around.messages;
  if (messages.empty()) return;
  by_.run({.name = "pack",
           .count = static_cast<std::int64_t>(messages.size()),
           .accesses =
               [&](range some, access_list& all) {
                 all.clear();
                 for (std::int64_t i = some.begin; i < some.end; ++i) {
                   const range elements = messages[std::size_t(i)].elements;
                   all.push_back({access_mode::in,
                                  &of.own,
                                  {at.around.sent[std::size_t(elements.begin)],
                                   at.around.sent[std::size_t(elements.end - 1)] + 1}});
                   all.push_back({access_mode::out, &sent, elements});
                 }
               },
           .body =
               [&at, &messages, from = of.elements.data()](range some) {
                 pack(at, from, messages[std::size_t(some.begin)].elements.begin,
                      messages[std::size_t(some.end - 1)].elements.end);
               }});
  std::vector<crossing> all;
  for (const halo::message& each : messages)
    all.push_back(
        {each.rank, {access_mode::in, &sent, each.elements}, {access_mode::out, &of.ghosts, each.elements}});
  by_.over().exchange(all);
}

template <class Kernel>
void solution::smooth_set(std::size_t depth, std::size_t set, Kernel kernel) {
  level& at = of_.levels[depth];
  const names& name = levels_[depth];
  const std::int64_t first = at.order.sets[set];
  by_.run({.name = "smooth",
           .count = at.order.sets[set + 1] - first,
           .accesses =
               [&at, &name, first](range some, access_list& all) {
                 all.clear();
                 for (std::int64_t i = first + some.begin; i < first + some.end; ++i)
                   name_tile(at, at.order.tiles[std::size_t(i)], name.r, name.x, all);
               },
           .body = [&at, first, kernel](range some) { kernel(at, first + some.begin, first + some.end); }});
}

void solution::smooth(std::size_t depth) {
  const std::size_t sets = of_.levels[depth].order.sets.size() - 1;
  for (std::size_t set = 0; set < sets; ++set) smooth_set(depth, set, smooth_forwards);
  for (std::size_t set = sets; set-- > 0;) smooth_set(depth, set, smooth_backwards);
}

void solution::precondition(std::size_t depth) {
  level& at = of_.levels[depth];
  const names& name = levels_[depth];
  run_blocks(
      "clear", at.rows(), [&name](range some, access_list& all) { all = {out(name.x.own, some)}; },
      [&at](std::int64_t begin, std::int64_t end) { clear(at, begin, end); });
  if (at.around.ghosts() > 0)  // x is 0 on all ranks: nothing has to cross
    by_.run({.name = "clear",
             .accesses = [&name](range, access_list& all) { all = {out(name.x.ghosts)}; },
             .body = [&at](range) { clear(at, at.rows(), static_cast<std::int64_t>(at.x.size())); }});
  smooth(depth);
  if (depth + 1 == levels_.size()) return;
  level& coarse = of_.levels[depth + 1];
  const names& coarse_name = levels_[depth + 1];
  cross(depth, name.x);
  run_blocks(
      "restrict", coarse.rows(),
      [&at, &coarse, &name, &coarse_name](range some, access_list& all) {
        const range fine = finer_rows(coarse, some);
        const std::int64_t more = reach(at.part.points);
        all = {in_rows(name.r, fine.begin, fine.end), in_rows(name.x.own, fine.begin - more, fine.end + more),
               out(coarse_name.r, some)};
        name_ghosts(at, fine, name.x.ghosts, all);
      },
      [&at, &coarse](std::int64_t begin, std::int64_t end) { restrict_residual(at, coarse, begin, end); });
  precondition(depth + 1);
  run_blocks(
      "correct", coarse.rows(),
      [&coarse, &name, &coarse_name](range some, access_list& all) {
        all = {in(coarse_name.x.own, some), {access_mode::inout, &name.x.own, finer_rows(coarse, some)}};
      },
      [&at, &coarse](std::int64_t begin, std::int64_t end) { correct(coarse, at, begin, end); });
  cross(depth, name.x);
  smooth(depth);
}

void solution::apply(std::function<void(double)> use) {
  cross(0, p_);
  add_up(
      "apply",
      [this](range some, access_list& all) {
        const level& at = of_.finest();
        all = {in(p_.own, some, reach(at.part.points)), out(ap_, some)};
        name_ghosts(at, covered(p_.own, some), p_.ghosts, all);
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
        [&finest](range some, access_list& all) { all = {in(finest.r, some), out(finest.x.own, some)}; },
        [this](std::int64_t begin, std::int64_t end) { copy_residual(of_, begin, end); });
  add_up(
      "product",
      [&finest](range some, access_list& all) { all = {in(finest.r, some), in(finest.x.own, some)}; },
      residual_product,
      [this](double rz) {
        of_.beta = rz_ > 0 ? rz / rz_ : 0;  // 0: this is the first iteration, or r is zero
        rz_ = rz;
      });
  run_blocks(
      "turn", of_.rows(),
      [this, &finest](range some, access_list& all) {
        all = {in(finest.x.own, some), in(scalars_), inout(p_.own, some)};
      },
      [this](std::int64_t begin, std::int64_t end) { turn(of_, begin, end); });
  apply([this](double p_ap) { of_.alpha = p_ap > 0 ? rz_ / p_ap : 0; });
  add_up(
      "step",
      [this, &finest](range some, access_list& all) {
        all = {in(p_.own, some), in(ap_, some), in(scalars_), inout(x_, some), inout(finest.r, some)};
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
