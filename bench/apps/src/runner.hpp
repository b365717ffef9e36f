#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "teff/apps/system.hpp"
#include "teff/apps/work.hpp"
#include "teff/bench/drive.hpp"
#include "teff/bench/record.hpp"

namespace teff::apps {

/// The results of a rank in a run. Ranks send it as its bytes.
struct outcome {
  counts counted;
  double elapsed_seconds = 0;
  bench::noise seen;
};

/// The processes that a run is made on: here, this one.
class company {
 public:
  company() = default;
  company(const company&) = delete;
  company& operator=(const company&) = delete;
  virtual ~company() = default;

  [[nodiscard]] virtual bench::ranks& protocol() { return alone_; }
  [[nodiscard]] virtual int rank() const { return 0; }
  [[nodiscard]] virtual int size() const { return 1; }
  /// Adds to a system's identity the facts that only the ranks know.
  [[nodiscard]] virtual bench::identity identify(bench::identity who) const { return who; }
  /// Returns when all are here.
  virtual void meet() const {}
  virtual void add_up(std::span<double> /*values*/) const {}
  /// On rank 0 all ranks' outcomes in one: counts and noise added up, the longest time.
  [[nodiscard]] virtual outcome united(const outcome& mine) const { return mine; }

 private:
  bench::ranks alone_;
};

/// Runs one problem after the other on a system.
class runner final : public bench::runner {
 public:
  runner(std::unique_ptr<company> processes, std::unique_ptr<system> of)
      : company_(std::move(processes)), system_(std::move(of)) {}

  [[nodiscard]] bench::identity describe() const override { return company_->identify(system_->describe()); }
  [[nodiscard]] bench::ranks& processes() override { return company_->protocol(); }
  void prepare(const bench::flags& of_run) override;
  [[nodiscard]] bench::answer run() override;

 private:
  using problem = std::variant<gemm, cholesky>;

  [[nodiscard]] setting setting_of(const work& asked) const;
  [[nodiscard]] double core_rate();
  [[nodiscard]] bench::answer measured(problem& of);
  [[nodiscard]] bench::json parameters(const problem& of) const;

  std::unique_ptr<company> company_;
  std::unique_ptr<system> system_;
  work asked_;
  bench::flags flags_;  ///< of what is loaded
  std::optional<problem> problem_;
  std::string lacks_;     ///< the missing part of the system; if there is one, nothing is loaded
  double core_rate_ = 0;  ///< FLOP/s, on rank 0
  std::chrono::steady_clock::time_point core_rate_until_;
};

}  // namespace teff::apps
