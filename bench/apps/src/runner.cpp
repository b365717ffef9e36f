#include "runner.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <utility>

#include "teff/apps/kernels.hpp"
#include "teff/bench/failure.hpp"
#include "teff/bench/measure.hpp"

namespace teff::apps {

void runner::prepare(const bench::flags& of_run) {
  if (problem_ && of_run == flags_) {
    std::visit([](auto& each) { each.reset(); }, *problem_);
    return;
  }
  problem_.reset();  // of two, both may not fit
  asked_ = parse_work(of_run);
  const setting at = setting_of(asked_);
  lacks_ = system_->lacks(at);
  if (!lacks_.empty()) return;
  if (asked_.what == app::cholesky)
    problem_.emplace(std::in_place_type<cholesky>, at);
  else
    problem_.emplace(std::in_place_type<gemm>, at);
  flags_ = of_run;
}

/// The layers of one process are those that as many ranks as it has workers would have.
setting runner::setting_of(const work& asked) const {
  const int ranks = company_->size();
  const bool in_layers = asked.what == app::gemm_3d;
  const int as_ranks = ranks > 1 ? ranks : system_->describe().workers;
  return {.size = asked.size,
          .block = asked.block,
          .sizes = asked.sizes,
          .grid = in_layers ? process_grid::in_layers(ranks) : process_grid::of(ranks),
          .layers = in_layers ? process_grid::layers_of(as_ranks) : 1,
          .rank = company_->rank(),
          .how = system_->storage()};
}

bench::answer runner::run() {
  if (!lacks_.empty()) return {.said = {.who = describe(), .error = lacks_, .lacks = true}};
  try {
    return measured(*problem_);
  } catch (const std::exception& failure) {
    if (company_->size() > 1) company_->protocol().give_up(bench::reason_of(failure));  // others wait for it
    return {.said = {.who = describe(), .error = bench::reason_of(failure)}};
  }
}

/// A core's rate, while the other ranks wait. Short runs, one after the other, share one measurement.
double runner::core_rate() {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds stays_true{250};
  company_->meet();
  if (company_->rank() == 0 && clock::now() >= core_rate_until_) {
    core_rate_ = kernels::measure_core();
    core_rate_until_ = clock::now() + stays_true;
  }
  company_->meet();
  return core_rate_;
}

bench::answer runner::measured(problem& of) {
  const double core_rate = this->core_rate();
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
  run.own["parameters"] = parameters(of);
  run.own["flops"] = std::visit([](const auto& each) { return each.flops(); }, of);
  run.own["core_flops_per_second"] = core_rate;
  if (all.counted.tasks) run.own["tasks"] = *all.counted.tasks;
  if (all.counted.bytes_sent) run.own["bytes_sent"] = *all.counted.bytes_sent;
  return {.said = std::move(run)};
}

bench::json runner::parameters(const problem& of) const {
  const setting& at = std::visit([](const auto& each) -> const setting& { return each.at(); }, of);
  return {{"app", name_of(asked_.what)},
          {"size", at.size},
          {"block", at.block},
          {"blocks", name_of(at.sizes)},
          {"grid", bench::json::array({at.grid.down, at.grid.across})},
          {"layers", at.layers}};
}

}  // namespace teff::apps
