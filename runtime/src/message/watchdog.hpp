// Says on stderr what a wait for other ranks waits for, when it takes long.
#pragma once

#include <teff/transport.hpp>

#include "platform/own_thread.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace teff::detail {

// TEFF_WATCHDOG is how long, in seconds. 0: never, and there is no thread.
class watchdog {
 public:
  // How long, if it is unset, where ranks only make or destroy something and compute nothing meanwhile.
  static constexpr std::chrono::seconds where_nothing_runs{30};

  // From now on until its end, prints state() whenever so much time has passed, from a thread of its own.
  // Throws invalid_option.
  explicit watchdog(std::function<std::string()> state, std::chrono::seconds if_unset = {});
  ~watchdog();

  // Throws invalid_option.
  [[nodiscard]] static bool is_on();

  // Opens and closes a channel, of `whose` use: ranks may wait for each other in both. One rank does not.
  [[nodiscard]] static std::unique_ptr<channel> open(transport& through, const std::string& whose);
  static void close(std::unique_ptr<channel> open, const std::string& whose, int rank, int ranks) noexcept;

 private:
  std::stop_source over_;
  own_thread thread_;
};

// What is said of a wait in a destructor.
inline constexpr const char* is_destroyed = ", it is being destroyed";

}  // namespace teff::detail
