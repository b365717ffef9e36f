#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "teff/bench/identity.hpp"
#include "teff/bench/noise.hpp"

namespace teff::bench {

using json = nlohmann::ordered_json;

/// The measurements of every run, of any kind.
struct measurement {
  std::string started_at;      ///< as time_now()
  double elapsed_seconds = 0;  ///< from all workers ready to all tasks done
  noise seen;
  json validation;  ///< an object with "passed" and the kind's keys
  std::optional<std::int64_t> peak_resident_bytes;
};

/// The record of one run. record.schema.json describes the head of its JSON, which all kinds of benchmarks
/// share. Each kind has a schema for the rest.
struct record {
  identity who;
  std::optional<measurement> measured;  ///< nothing if nothing ran
  std::string error;                    ///< why it does not count, or empty
  json own = json::object();            ///< the keys that the kind adds
  bool lacks = false;                   ///< whether `error` names a part that the system lacks: no fault
};

/// A run's record, or text if the flags asked for text.
struct answer {
  record said;
  std::string text;
};

/// One line of JSON, without the newline. `benchmark` is the kind's name.
[[nodiscard]] std::string to_json(const record& run, std::string_view benchmark);
/// The same for a run that has only an error.
[[nodiscard]] std::string error_json(const identity& who, std::string_view benchmark, std::string_view error);
/// The answer to --identity. `own` are keys that the kind adds.
[[nodiscard]] std::string identity_json(const identity& who, const json& own);

/// Now, in UTC: ISO 8601 with milliseconds.
[[nodiscard]] std::string time_now();

}  // namespace teff::bench
