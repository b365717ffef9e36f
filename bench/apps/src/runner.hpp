#pragma once

#include <memory>
#include <optional>
#include <string>

#include "loaded.hpp"
#include "teff/bench/drive.hpp"

namespace teff::apps {

/// Removes `--way WAY` from the command line, if these are its first two words, and returns that way. Throws
/// bench::usage_error.
[[nodiscard]] std::optional<way_kind> take_way(int& argc, char**& argv);

/// Runs one app after the other on a system. With `only`, it runs apps in that way alone.
class runner final : public bench::runner {
 public:
  runner(std::unique_ptr<company> processes, std::unique_ptr<system> of, std::optional<way_kind> only = {})
      : company_(std::move(processes)), system_(std::move(of)), only_(only) {}

  [[nodiscard]] bench::identity describe() const override { return company_->identify(system_->describe()); }
  [[nodiscard]] bench::ranks& processes() override { return company_->protocol(); }
  void prepare(const bench::flags& of_run) override;
  [[nodiscard]] bench::answer run() override;

 private:
  std::unique_ptr<company> company_;
  std::unique_ptr<system> system_;
  std::optional<way_kind> only_;
  bench::flags flags_;  ///< of what is loaded
  std::unique_ptr<loaded> loaded_;
  std::string lacks_;  ///< the missing part of the system; if there is one, nothing is loaded
};

}  // namespace teff::apps
