#include "teff/spawn/record.hpp"

namespace teff::spawn {
namespace {

using bench::json;

constexpr std::string_view name(tree::shape of) {
  switch (of) {
    case tree::shape::binomial:
      return "binomial";
    case tree::shape::fixed:
      return "geometric fixed";
    case tree::shape::linear:
      return "geometric linear";
    case tree::shape::cyclic:
      return "geometric cyclic";
  }
  return "";
}

json counts(const work& of, const result& found) {
  if (of.what == pattern::fibonacci) return {{"value", found.fibonacci}};
  if (of.what != pattern::tree)
    return {{"tasks", found.null_tasks.tasks}, {"index_sum", found.null_tasks.index_sum}};
  return {{"nodes", found.tree.nodes}, {"leaves", found.tree.leaves}, {"depth", found.tree.depth}};
}

}  // namespace

json parameters(const work& of) {
  if (of.what == pattern::fibonacci)
    return {{"n", of.n}, {"spawn", of.children == spawning::both ? "both" : "one"}};
  if (of.what != pattern::tree) return {{"tasks", of.tasks}};
  json named{{"tree", of.tree.name}, {"shape", name(of.tree.kind)}, {"b0", of.tree.branching}};
  if (of.tree.kind == tree::shape::binomial) {
    named["q"] = of.tree.probability;
    named["m"] = of.tree.children_of;
  } else {
    named["d"] = of.tree.depth;
  }
  named["seed"] = of.tree.seed;
  named["sha1"] = sha1_implementation();
  return named;
}

bench::record to_record(const record& run) {
  json own{{"pattern", name(run.asked.what)}, {"parameters", parameters(run.asked)}};
  std::optional<bench::measurement> measured = run.measured;
  if (measured) {
    measured->validation = {{"passed", run.error.empty()},
                            {"found", counts(run.asked, run.found)},
                            {"expected", counts(run.asked, run.wanted)}};
    own["tasks"] = units(run.asked, run.found);
    own["peak_rss_above_empty_bytes"] = measured->peak_resident_bytes.value_or(0) - run.empty_resident_bytes;
    if (run.asked.what == pattern::tree) own["generator_seconds"] = run.generator_seconds;
  }
  return {run.who, std::move(measured), run.error, std::move(own), run.lacks};
}

}  // namespace teff::spawn
