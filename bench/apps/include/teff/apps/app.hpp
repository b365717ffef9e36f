#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "teff/apps/ways.hpp"
#include "teff/bench/record.hpp"

namespace CLI {
class App;
}

namespace teff::apps {

/// The findings of an app that checked the result of a run.
struct finding {
  double residual = 0;  ///< how far the result is from what it must be, as the app defines it
  double bound = 0;     ///< the largest residual of a right result
  std::string wrong;    ///< another fault, or empty
  bench::json own = bench::json::object();  ///< the keys that the app adds to the record
};

/// An app over ways, with its data.
class app_over_ways {
 public:
  app_over_ways() = default;
  app_over_ways(const app_over_ways&) = delete;
  app_over_ways& operator=(const app_over_ways&) = delete;
  virtual ~app_over_ways() = default;

  /// Forgets the result of the run before.
  virtual void reset() = 0;
  /// Runs all steps, and waits for them.
  virtual void run(way& in) = 0;
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
};

/// The facts about an app that need no data.
struct description {
  struct sample {
    std::string_view name;
    std::string_view title;
    std::string_view flags;
    bool by_default = true;
  };
  /// Makes the part of a rank.
  using maker = std::function<std::unique_ptr<app_over_ways>(const place& at)>;

  std::string_view name;
  std::string_view title;
  std::string_view unit;       ///< of its work: "FLOP", "zone", "edge"
  std::vector<way_kind> ways;  ///< in which it is written, first those that suit it
  std::vector<sample> cases;
  bool over_ranks = true;  ///< whether ranks may share it
  /// Adds the app's flags to the parser. Its result makes the app from the values that the parser has read.
  maker (*flags)(CLI::App& parser);
};

/// All apps over ways, in the order in which they are listed.
[[nodiscard]] std::span<const description> apps_over_ways();

}  // namespace teff::apps
