#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <variant>

#include "loaded.hpp"
#include "teff/apps/kernels.hpp"
#include "teff/bench/measure.hpp"

namespace teff::apps {
namespace {

/// A core's rate, while the other ranks wait. Short runs, one after the other, share one measurement.
class core_rate {
 public:
  /// FLOP/s, on rank 0.
  [[nodiscard]] double measured(const company& with) {
    using clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds stays_true{250};
    with.meet();
    if (with.rank() == 0 && clock::now() >= until_) {
      found_ = kernels::measure_core();
      until_ = clock::now() + stays_true;
    }
    with.meet();
    return found_;
  }

 private:
  double found_ = 0;
  std::chrono::steady_clock::time_point until_;
};

class loaded_tiles final : public loaded {
 public:
  loaded_tiles(const work& asked, const setting& at, tile_system& on, company& with)
      : asked_(asked), system_(on), company_(with) {
    if (asked.what == app::cholesky)
      problem_.emplace<cholesky>(at);
    else
      problem_.emplace<gemm>(at);
  }

  void reset() override {
    visit([](auto& each) { each.reset(); });
  }

  void run(bench::record& said) override {
    static core_rate rate;
    const double core_rate = rate.measured(company_);
    counts counted;
    bench::measurement found = bench::measure([&](bench::region_meter& region) {
      company_.meet();
      visit([&](auto& each) { counted = system_.run(each, region); });
    });
    double residual = 0;
    double flops = 0;
    setting at;
    visit([&](auto& each) {
      residual = each.residual([&](std::span<double> values) { company_.add_up(values); });
      flops = each.flops();
      at = each.at();
    });
    const outcome all = company_.united({counted, found.elapsed_seconds, found.seen});

    const double bound = residual_bound(asked_.size);
    const bool passed = residual <= bound;  // not, if it is not a number
    if (!passed)
      said.error = fmt::format("the residual is {:.1e}: rounding explains at most {:.1e}", residual, bound);
    found.elapsed_seconds = all.elapsed_seconds;
    found.seen = all.seen;
    found.validation = {{"passed", passed}, {"residual", residual}, {"bound", bound}};
    said.measured = std::move(found);
    said.own["parameters"] = {{"app", name_of(asked_.what)},
                              {"size", at.size},
                              {"block", at.block},
                              {"blocks", name_of(at.sizes)},
                              {"grid", bench::json::array({at.grid.down, at.grid.across})},
                              {"layers", at.layers}};
    said.own["flops"] = flops;
    said.own["core_flops_per_second"] = core_rate;
    if (all.counted.tasks) said.own["tasks"] = *all.counted.tasks;
    if (all.counted.bytes_sent) said.own["bytes_sent"] = *all.counted.bytes_sent;
  }

 private:
  template <class Visit>
  void visit(const Visit& visitor) {
    std::visit(
        [&](auto& each) {
          if constexpr (!std::is_same_v<decltype(each), std::monostate&>) visitor(each);
        },
        problem_);
  }

  work asked_;
  tile_system& system_;
  company& company_;
  std::variant<std::monostate, gemm, cholesky> problem_;
};

}  // namespace

/// The layers of one process are those that as many ranks as it has workers would have.
std::unique_ptr<loaded> load(const work& asked, system& on, company& with, std::optional<way_kind> only) {
  tile_system* const tiles = on.tiles();
  if (tiles == nullptr || (only && only != tiles->tile_way()))
    throw lack(fmt::format("it computes no {} {}", name_of(asked.what),
                           only ? fmt::format("as {}", name_of(*only)) : "on tiles"));
  if (const std::string missing = kernels::missing(); !missing.empty()) throw lack(missing);
  const int ranks = with.size();
  const bool in_layers = asked.what == app::gemm_3d;
  const int as_ranks = ranks > 1 ? ranks : on.describe().workers;
  const setting at{.size = asked.size,
                   .block = asked.block,
                   .sizes = asked.sizes,
                   .grid = in_layers ? process_grid::in_layers(ranks) : process_grid::of(ranks),
                   .layers = in_layers ? process_grid::layers_of(as_ranks) : 1,
                   .rank = with.rank(),
                   .how = tiles->storage()};
  if (const std::string lacks = tiles->lacks(at); !lacks.empty()) throw lack(lacks);
  return std::make_unique<loaded_tiles>(asked, at, *tiles, with);
}

}  // namespace teff::apps
