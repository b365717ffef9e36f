#pragma once

#include <string>

namespace teff::bench {

/// The processes of a program. Most programs have one; a system with several overrides all of this. Rank 0
/// reads the input and prints.
class ranks {
 public:
  ranks() = default;
  ranks(const ranks&) = delete;
  ranks& operator=(const ranks&) = delete;
  virtual ~ranks() = default;

  [[nodiscard]] virtual int rank() const { return 0; }
  /// Sends rank 0's text to all ranks.
  virtual void broadcast(std::string& /*text*/) {}
  /// Collects each rank's reason not to go on, and returns the first of them on all ranks, with that rank's
  /// name; empty if no rank has a reason.
  [[nodiscard]] virtual std::string agree(std::string reason) { return reason; }
  /// Says that this rank can't go on. The others may wait for it, so they have to end, too.
  virtual void give_up(const std::string& /*reason*/) {}
};

}  // namespace teff::bench
