#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "teff/apps/residual.hpp"
#include "teff/apps/system.hpp"
#include "teff/apps/ways.hpp"
#include "teff/bench/flags.hpp"
#include "teff/bench/record.hpp"

namespace teff::apps {

/// The findings of an app that checked the result of a run.
struct finding {
  double residual = 0;  ///< how far the result is from what it must be, as the app's description says
  double bound = 0;     ///< the largest residual of a right result
  std::string wrong;    ///< another fault, or empty
  bench::json own = bench::json::object();  ///< the app's keys in the record, as its description names them
};

/// An app with its data.
class app : interface {
 public:
  /// Forgets the result of the run before. It is called before the first run, too.
  virtual void reset() = 0;
  /// Runs all steps, and waits for them.
  virtual void run(way& in) = 0;
  /// Of an app on tiles: has the system compute the result in a program of its own.
  virtual counts run(whole_system& /*on*/, bench::region_meter& /*region*/) { return {}; }
  /// After a run, on all ranks.
  [[nodiscard]] virtual finding check(way& by) = 0;
  /// How much a run of all ranks does, in the unit of the app's description.
  [[nodiscard]] virtual double work() const = 0;
  /// Its flags with their values, for the record.
  [[nodiscard]] virtual bench::json parameters() const = 0;
};

/// A rank among those that share an app.
struct place {
  int rank = 0;
  int ranks = 1;
  int workers = 1;                      ///< of this rank
  const whole_system* whole = nullptr;  ///< the system, if it runs a program of its own
  summation add_up = [](std::span<double>) {};
};

/// The system's lack is an error that is no fault.
struct lack : std::runtime_error {
  using runtime_error::runtime_error;
};

/// All that is known of an app without its data. The programs' help, their cases and tests follow from it.
struct description {
  struct sample {
    std::string_view name;
    std::string_view title;
    std::string_view flags;
    bool by_default = true;
    /// Of a short run: the numbers of ranks over which tests make it.
    std::vector<int> test_ranks = {};
  };
  struct key {
    std::string_view name;
    std::string_view meaning;
  };
  /// Makes the part of a rank. Throws lack.
  using maker = std::function<std::unique_ptr<app>(const place& at)>;

  std::string_view name;
  std::string_view title;
  std::string_view unit;       ///< of its work: "FLOP", "zone", "edge"
  std::vector<way_kind> ways;  ///< in which it is written, first those that suit it
  std::vector<sample> cases;
  std::vector<key> own = {};  ///< its keys in the record
  std::string_view residual;  ///< the meaning of a finding's residual
  bool over_ranks = true;     ///< whether ranks may share it in its ways
  /// Whether its tasks call BLAS on tiles of matrices. Then -tasks does not cut its steps, a core's rate in
  /// BLAS is measured beside it, and a system may run a program of its own in the place of a way.
  bool on_tiles = false;
  /// Adds the app's flags to the parser. Its result makes the app from the values that the parser has read.
  maker (*flags)(bench::flag_parser& parser);
};

/// All apps, by name: each of the folders in src describes one.
[[nodiscard]] std::span<const description> all_apps();

}  // namespace teff::apps
