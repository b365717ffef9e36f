#include "teff/bench/record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

namespace teff::bench {
namespace {

constexpr std::string_view schema = "teff-record-2";

json to_object(const identity& who) {
  json object{{"system", who.system}, {"variant", who.variant}, {"version", who.version}};
  if (who.workers > 0) object["workers"] = who.workers;
  object["ranks"] = who.ranks;
  return object;
}

json to_object(const noise& seen) {
  json object{{"cpu_seconds", seen.cpu_seconds},
              {"voluntary_switches", seen.voluntary_switches},
              {"involuntary_switches", seen.involuntary_switches},
              {"gap_share_before", seen.gap_share_before},
              {"gap_share_after", seen.gap_share_after}};
  if (seen.round_trip_seconds) object["round_trip_seconds"] = *seen.round_trip_seconds;
  return object;
}

}  // namespace

std::string to_json(const record& run, std::string_view benchmark) {
  json object{{"schema", schema}, {"benchmark", benchmark}};
  object.update(to_object(run.who));
  if (run.measured) {
    const measurement& measured = *run.measured;
    object["started_at"] = measured.started_at;
    object["elapsed_seconds"] = measured.elapsed_seconds;
    object["noise"] = to_object(measured.seen);
    object["validation"] = measured.validation;
    if (measured.peak_resident_bytes) object["peak_rss_bytes"] = *measured.peak_resident_bytes;
  }
  if (!run.error.empty()) object["error"] = run.error;
  if (run.lacks) object["lacks"] = true;
  object.update(run.own);
  return object.dump();
}

std::string error_json(const identity& who, std::string_view benchmark, std::string_view error) {
  return to_json(record{.who = who, .error = std::string(error)}, benchmark);
}

std::string identity_json(const identity& who, const json& own) {
  json object = to_object(who);
  object.update(own);
  return object.dump();
}

std::string time_now() {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
                     milliseconds);
}

}  // namespace teff::bench
