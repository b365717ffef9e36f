#pragma once

#include <signal.h>
#include <time.h>

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "teff/bench/identity.hpp"
#include "teff/spawn/work.hpp"

namespace teff::spawn {

/// An address of the program: where it lies in the file it was loaded from.
struct code_place {
  std::string module;        ///< that file
  std::uint64_t offset = 0;  ///< as the file's own tables have it
  std::string symbol;        ///< of the dynamic symbols the last one before it, or empty

  friend auto operator<=>(const code_place&, const code_place&) = default;
};

/// Where the workers were while a pattern ran again and again. profile.schema.json describes its JSON.
struct profile {
  bench::identity who;
  work asked;
  std::int64_t runs = 0;
  double elapsed_seconds = 0;  ///< in the timed regions of all runs
  double period_seconds = 0;   ///< between two samples of a worker
  std::int64_t workers = 0;    ///< threads that were sampled
  std::int64_t missed = 0;     ///< samples while the OS had taken the worker off its core
  std::int64_t lost = 0;       ///< samples that there was no room for
  /// How often each stack was seen: the innermost place first, callers after it, cut off at a depth.
  std::map<std::vector<code_place>, std::int64_t> stacks;
  std::string started_at;
  std::string error;  ///< why it does not count, or empty
};

[[nodiscard]] std::string to_json(const profile& of);

/// Samples every worker thread at a steady rate, whether it runs or sleeps. A timer sends each thread a
/// signal, and the handler notes the interrupted stack. Only one sampler may exist at a time.
class sampler {
 public:
  /// The workers are all threads but the main one, and the main one too if the others are fewer than
  /// `workers`.
  explicit sampler(int workers);
  ~sampler();
  sampler(const sampler&) = delete;
  sampler& operator=(const sampler&) = delete;

  /// Samples are taken between these two calls.
  void start() noexcept;
  void stop() noexcept;
  /// Adds the samples that were taken between `begin` and `end` to `into`. No run may be in progress.
  void collect(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end,
               profile& into);

 private:
  struct looks;
  static void look(int, siginfo_t*, void* context);

  std::unique_ptr<looks> looks_;
  std::vector<timer_t> timers_;
};

}  // namespace teff::spawn
