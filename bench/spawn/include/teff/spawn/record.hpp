#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "teff/bench/record.hpp"
#include "teff/spawn/work.hpp"

namespace teff::spawn {

/// Everything that the record of a validated run of a pattern holds.
struct record {
  bench::identity who;
  work asked;
  result found;
  result wanted;
  std::optional<bench::measurement> measured;  ///< without the validation; nothing if nothing ran
  std::int64_t empty_resident_bytes = 0;       ///< the peak of this program before its runtime was there
  double generator_seconds = 0;                ///< of one node, where a tree was searched
  std::string error;                           ///< why the run does not count, or empty
  bool lacks = false;                          ///< whether `error` is that the system has no such pattern
};

/// The record as record.schema.json describes its JSON.
[[nodiscard]] bench::record to_record(const record& run);

/// The parameters of the pattern, as its record says them.
[[nodiscard]] bench::json parameters(const work& of);

}  // namespace teff::spawn
