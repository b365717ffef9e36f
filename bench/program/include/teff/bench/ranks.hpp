#pragma once

#include <string>

namespace teff::bench {

/// The processes that a program consists of. Most have one; a system of several overrides all of this. Rank 0
/// reads the input and prints.
class ranks {
 public:
  ranks() = default;
  ranks(const ranks&) = delete;
  ranks& operator=(const ranks&) = delete;
  virtual ~ranks() = default;

  [[nodiscard]] virtual int rank() const { return 0; }
  /// Brings rank 0's text to all.
  virtual void broadcast(std::string& /*text*/) {}
  /// The first reason not to go on that a rank has, on all ranks and with that rank's name; empty where none
  /// has one.
  [[nodiscard]] virtual std::string agree(std::string reason) { return reason; }
  /// This rank can't go on, and the others may wait for it: they have to end, too.
  virtual void give_up(const std::string& /*reason*/) {}
};

}  // namespace teff::bench
