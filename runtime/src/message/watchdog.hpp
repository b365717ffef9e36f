// Says on stderr what an epoch waits for, when it takes long.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace teff::detail {

// TEFF_WATCHDOG is how long, in seconds. Unset or 0: never, and there is no thread.
class watchdog {
 public:
  // From now on until its end, prints state() whenever so much time has passed, from a thread of its own.
  // Throws invalid_option.
  explicit watchdog(std::function<std::string()> state);

 private:
  std::jthread thread_;
};

}  // namespace teff::detail
