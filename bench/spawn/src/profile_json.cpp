#include <vector>

#include "teff/spawn/profile.hpp"
#include "teff/spawn/record.hpp"

namespace teff::spawn {
namespace {

using bench::json;

constexpr std::string_view schema = "teff-spawn-profile-1";

}  // namespace

std::string to_json(const profile& of) {
  json object{{"schema", schema},
              {"system", of.who.system},
              {"variant", of.who.variant},
              {"version", of.who.version},
              {"workers", of.who.workers}};
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

}  // namespace teff::spawn
