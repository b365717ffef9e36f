#pragma once

#include <string>

namespace teff::bench {

/// Which system a record is about.
struct identity {
  std::string system;
  std::string variant;
  std::string version;  ///< the runtime's own, asked of it
  /// Over all ranks: as many as the adapter counted, or the runtime has when it is asked, never the number
  /// that the adapter asked for. 0 while the system has not started.
  int workers = 1;
  int ranks = 1;
  std::string limits{};  ///< what gives it fewer workers than asked for, as variables of the environment
};

}  // namespace teff::bench
