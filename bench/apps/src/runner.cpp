#include "runner.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "teff/apps/kernels.hpp"
#include "teff/bench/failure.hpp"
#include "teff/bench/measure.hpp"

namespace teff::apps {
namespace {

using bench::json;

json parameters(const work& asked, const process_grid& grid) {
  return {{"app", name_of(asked.what)},
          {"size", asked.size},
          {"block", asked.block},
          {"grid", json::array({grid.down, grid.across})}};
}

/// A core's rate, while the other ranks wait.
double rate_of_core(const company& processes) {
  processes.meet();
  const double rate = processes.rank() == 0 ? kernels::measure_core() : 0;
  processes.meet();
  return rate;
}

}  // namespace

void runner::prepare(const bench::flags& of_run) {
  if (problem_ && of_run == flags_) {
    std::visit([](auto& each) { each.reset(); }, *problem_);
    return;
  }
  problem_.reset();  // of two, both may not fit
  asked_ = parse_work(of_run);
  const setting at{.size = asked_.size,
                   .block = asked_.block,
                   .grid = process_grid::of(company_->size()),
                   .rank = company_->rank(),
                   .how = system_->storage()};
  if (asked_.what == app::gemm)
    problem_.emplace(std::in_place_type<gemm>, at);
  else
    problem_.emplace(std::in_place_type<cholesky>, at);
  flags_ = of_run;
}

bench::answer runner::run() {
  try {
    return measured(*problem_);
  } catch (const std::exception& failure) {
    if (company_->size() > 1) company_->protocol().give_up(bench::reason_of(failure));  // others wait for it
    return {.said = {.who = describe(), .error = bench::reason_of(failure)}};
  }
}

bench::answer runner::measured(problem& of) {
  const double core_rate = rate_of_core(*company_);
  counts counted;
  bench::measurement found = bench::measure([&](bench::region_meter& region) {
    company_->meet();
    counted = std::visit([&](auto& each) { return system_->run(each, region); }, of);
  });
  const double residual = std::visit(
      [&](auto& each) { return each.residual([&](std::span<double> values) { company_->add_up(values); }); },
      of);
  const outcome all = company_->united({counted, found.elapsed_seconds, found.seen});

  bench::record run{.who = describe()};
  const double bound = residual_bound(asked_.size);
  const bool passed = residual <= bound;  // not, if it is not a number
  if (!passed)
    run.error = fmt::format("the residual is {:.1e}: rounding explains at most {:.1e}", residual, bound);
  found.elapsed_seconds = all.elapsed_seconds;
  found.seen = all.seen;
  found.validation = {{"passed", passed}, {"residual", residual}, {"bound", bound}};
  run.measured = std::move(found);
  run.own["parameters"] = parameters(asked_, process_grid::of(company_->size()));
  run.own["flops"] = std::visit([](const auto& each) { return each.flops(); }, of);
  run.own["core_flops_per_second"] = core_rate;
  if (all.counted.tasks) run.own["tasks"] = *all.counted.tasks;
  if (all.counted.bytes_sent) run.own["bytes_sent"] = *all.counted.bytes_sent;
  return {.said = std::move(run)};
}

}  // namespace teff::apps
