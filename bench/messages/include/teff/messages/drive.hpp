#pragma once

#include <functional>
#include <memory>
#include <string>

#include "teff/messages/trial.hpp"

namespace teff::messages {

/// The part of a system on each of the two ranks. Each function runs one pattern (work.hpp), on both ranks at
/// once. MPI is initialised, and no other code uses it meanwhile. Rank 0 asks trial::begins() before each
/// turn, rank 1 starts and stops its clock itself, and both tell the trial what arrives.
class peer {
 public:
  peer() = default;
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;
  virtual ~peer() = default;

  virtual void one_way(trial& at) = 0;
  virtual void burst(trial& at) = 0;
  virtual void chain(trial& at) = 0;
  virtual void idle(trial& at) = 0;
};

/// Who it is.
struct peer_name {
  std::string system;
  std::string variant;
  std::string version;  // besides the MPI's version, if it has one
};

/// The main program of a system, which a launcher starts twice; `thread_level` as MPI_Init_thread takes it.
int drive(int argc, char** argv, int thread_level, const peer_name& who,
          const std::function<std::unique_ptr<peer>()>& make);

}  // namespace teff::messages
