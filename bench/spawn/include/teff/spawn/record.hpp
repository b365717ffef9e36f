#pragma once

#include <string>
#include <string_view>

#include "teff/graphs/adapter.hpp"
#include "teff/spawn/work.hpp"

namespace teff::patterns {

/// Everything that a validated run of a pattern has to say. spawn_record.schema.json describes its JSON.
struct record {
  bench::identity who;
  work asked;
  result found;
  result wanted;
  double elapsed_seconds = 0;
  bench::disturbance seen;
  std::int64_t peak_resident_bytes = 0;
  std::int64_t empty_resident_bytes = 0;  ///< the peak of this program before its runtime was there
  double generator_seconds = 0;           ///< of one node, where a tree was searched
  std::string started_at;
  std::string error;  ///< why the run does not count, or empty
};

/// One line of JSON, without the newline.
[[nodiscard]] std::string to_json(const record& run);
/// The record of a line that could not be read.
[[nodiscard]] std::string error_json(const bench::identity& who, std::string_view error);

}  // namespace teff::patterns
