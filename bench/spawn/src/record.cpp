#include "teff/spawn/record.hpp"

#include "teff/spawn/profile.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace teff::patterns {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view record_schema = "teff-spawn-record-1";
constexpr std::string_view profile_schema = "teff-spawn-profile-1";

json head(const bench::identity& who, std::string_view schema = record_schema) {
  return {{"schema", schema},
          {"system", who.system},
          {"variant", who.variant},
          {"version", who.version},
          {"workers", who.workers}};
}

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

json counts(const work& of, const result& found) {
  if (of.what == pattern::fibonacci) return {{"value", found.fibonacci}};
  if (of.what != pattern::tree)
    return {{"tasks", found.null_tasks.tasks}, {"index_sum", found.null_tasks.index_sum}};
  return {{"nodes", found.tree.nodes}, {"leaves", found.tree.leaves}, {"depth", found.tree.depth}};
}

std::string_view name(pattern of) {
  switch (of) {
    case pattern::serial:
      return "serial";
    case pattern::parallel:
      return "parallel";
    case pattern::fibonacci:
      return "fibonacci";
    case pattern::tree:
      return "tree";
  }
  return "";
}

}  // namespace

std::string to_json(const record& run) {
  json object = head(run.who);
  object["pattern"] = name(run.asked.what);
  object["parameters"] = parameters(run.asked);
  if (run.elapsed_seconds == 0) {  // nothing ran
    object["error"] = run.error;
    return object.dump();
  }
  object["tasks"] = units(run.asked, run.found);
  object["elapsed_seconds"] = run.elapsed_seconds;
  object["peak_rss_bytes"] = run.peak_resident_bytes;
  object["peak_rss_above_empty_bytes"] = run.peak_resident_bytes - run.empty_resident_bytes;
  if (run.asked.what == pattern::tree) object["generator_seconds"] = run.generator_seconds;
  object["validation"] = {{"passed", run.error.empty()},
                          {"found", counts(run.asked, run.found)},
                          {"expected", counts(run.asked, run.wanted)}};
  object["disturbance"] = {{"cpu_seconds", run.seen.cpu_seconds},
                           {"voluntary_switches", run.seen.voluntary_switches},
                           {"involuntary_switches", run.seen.involuntary_switches},
                           {"gap_share_before", run.seen.gap_share_before},
                           {"gap_share_after", run.seen.gap_share_after}};
  object["started_at"] = run.started_at;
  if (!run.error.empty()) object["error"] = run.error;
  return object.dump();
}

std::string to_json(const profile& of) {
  json object = head(of.who, profile_schema);
  object["pattern"] = name(of.asked.what);
  object["parameters"] = parameters(of.asked);
  if (!of.error.empty()) {
    object["error"] = of.error;
    return object.dump();
  }
  object["tasks"] = of.runs * units(of.asked, expected(of.asked));
  object["runs"] = of.runs;
  object["elapsed_seconds"] = of.elapsed_seconds;
  object["period_seconds"] = of.period_seconds;
  object["threads"] = of.workers;
  object["missed"] = of.missed;
  object["lost"] = of.lost;
  std::map<code_place, std::size_t> places;
  json stacks = json::array();
  for (const auto& [stack, count] : of.stacks) {
    json indices = json::array();
    for (const auto& place : stack) indices.push_back(places.try_emplace(place, places.size()).first->second);
    stacks.push_back({{"count", count}, {"places", std::move(indices)}});
  }
  std::vector<json> told(places.size());
  for (const auto& [place, index] : places)
    told[index] = {{"module", place.module}, {"offset", place.offset}, {"symbol", place.symbol}};
  object["places"] = told;
  object["stacks"] = std::move(stacks);
  object["started_at"] = of.started_at;
  return object.dump();
}

std::string error_json(const bench::identity& who, std::string_view error) {
  json object = head(who);
  object["error"] = error;
  return object.dump();
}

}  // namespace teff::patterns
