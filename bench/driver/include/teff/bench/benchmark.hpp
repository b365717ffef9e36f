#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "teff/bench/flags.hpp"
#include "teff/bench/record.hpp"

namespace teff::bench {

/// Something that a benchmark runs and that has a name: a pattern with its parameters.
struct benchmark_case {
  std::string name;
  std::string title;
  std::string flags;
  bool by_default = true;       ///< run if the user names no cases
  std::string group;            ///< of cases that belong together
  std::string workers = "any";  ///< the numbers of workers for which it makes sense
  json own = json::object();    ///< keys that the kind adds
};

/// A kind of benchmark: the runs that its programs offer.
class benchmark {
 public:
  benchmark() = default;
  benchmark(const benchmark&) = delete;
  benchmark& operator=(const benchmark&) = delete;
  virtual ~benchmark() = default;

  /// Its folder in bench/.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The purpose of a program, and the flags of a run, as text for a user.
  [[nodiscard]] virtual std::string help() const = 0;
  [[nodiscard]] virtual std::vector<benchmark_case> cases() const = 0;
  /// The facts that --identity tells besides the identity.
  [[nodiscard]] virtual json further_identity() const { return json::object(); }

  /// Throws usage_error if the flags of a run are wrong. In a batch each line is answered by a record, so
  /// flags that ask for something else are wrong there.
  virtual void check(const flags& of_run, bool in_batch) const = 0;
  /// Text for people before a single run, or nothing.
  [[nodiscard]] virtual std::string introduction(const flags& /*of_run*/) const { return {}; }
};

/// The answer to --cases: one line of JSON for each case.
[[nodiscard]] std::string cases_json(const benchmark& kind);

}  // namespace teff::bench
