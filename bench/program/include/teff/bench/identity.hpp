#pragma once

#include <string>

namespace teff::bench {

/// Which system a record is about.
struct identity {
  std::string system;
  std::string variant;
  std::string version;  ///< the runtime's own, asked of it
  int workers = 1;      ///< over all ranks
  int ranks = 1;
};

}  // namespace teff::bench
