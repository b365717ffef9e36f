#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "sssp/answer.hpp"
#include "sssp/delta_stepping.hpp"
#include "sssp/generate.hpp"
#include "sssp/known.hpp"
#include "teff/apps/app.hpp"

namespace teff::apps::sssp {
namespace {

/// The distances in a graph of the suite.
class shortest_paths final : public app {
 public:
  shortest_paths(std::string name, distance delta)
      : name_(std::move(name)), graph_(named(name_)), problem_(graph_, source(graph_), delta) {}

  void reset() override { std::ranges::fill(problem_.distances, unreached); }
  void run(way& by) override { solve(problem_, by); }

  /// Counts the vertices whose distance is wrong.
  [[nodiscard]] finding check(way& /*by*/) override {
    const answer read = read_answer(problem_);
    finding found{.residual = static_cast<double>(wrong_distances(problem_, 0, graph_.vertices())),
                  .own = {{"reached", read.reached}, {"sum", read.sum}, {"max", read.greatest}}};
    const auto* const known = std::ranges::find(all_known, name_, &known::name);
    if (known != std::end(all_known) && read != known->found)
      found.wrong = fmt::format(
          "it reached {} vertices, at distances up to {} that add up to {}: known are {}, {} and {}",
          read.reached, read.greatest, read.sum, known->found.reached, known->found.greatest,
          known->found.sum);
    else if (found.residual > 0)
      found.wrong = fmt::format("the distances of {:.0f} vertices are wrong", found.residual);
    return found;
  }

  [[nodiscard]] double work() const override { return static_cast<double>(graph_.edges()); }
  [[nodiscard]] bench::json parameters() const override {
    return {{"graph", name_}, {"delta", problem_.delta}};
  }

 private:
  std::string name_;
  graph graph_;
  problem problem_;
};

}  // namespace

description::maker read_flags(bench::flag_parser& parser) {
  constexpr int widest = 1 << 20;
  const auto name = std::make_shared<std::string>("kron16");
  const auto delta = std::make_shared<distance>(4);
  parser
      .add("--graph", *name, "kron or uniform, and the scale, as in kron14: a random graph of 2^14 vertices")
      .takes("WORD");
  parser.add("--delta", *delta, "width of a bucket of distances").within(1, widest).takes("LENGTH");
  return [name, delta](const place&) { return std::make_unique<shortest_paths>(*name, *delta); };
}

}  // namespace teff::apps::sssp

namespace teff::apps {

description describe_sssp() {
  return {
      .name = "sssp",
      .title = "shortest paths from one vertex by delta-stepping",
      .unit = "edge",
      .ways = {way_kind::loops, way_kind::graph, way_kind::tasks},
      .cases = {{"sssp-kron16", "shortest paths, 2^16 vertices, Kronecker graph", "-graph kron16"},
                {"sssp-kron20", "shortest paths, 2^20 vertices, Kronecker graph", "-graph kron20", false},
                {"sssp-uniform16", "shortest paths, 2^16 vertices, uniform graph", "-graph uniform16", false},
                {"sssp-kron10",
                 "shortest paths, 2^10 vertices, Kronecker graph, three tasks",
                 "-graph kron10 -tasks 3",
                 false,
                 {1}}},
      .own = {{"reached", "vertices that are reached, with the source"},
              {"sum", "the sum of their distances"},
              {"max", "the greatest of these"}},
      .residual = "the number of vertices with a wrong distance",
      .over_ranks = false,
      .flags = &sssp::read_flags};
}

}  // namespace teff::apps
