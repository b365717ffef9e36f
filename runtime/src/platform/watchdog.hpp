// Prints to stderr why a long wait goes on.
#pragma once

#include "platform/own_thread.hpp"

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

namespace teff::detail {

// TEFF_WATCHDOG is the interval in seconds, as "30" or "30s". If it is 0, nothing is printed, and there is no
// thread.
class watchdog {
 public:
  // The interval, if TEFF_WATCHDOG is unset, where ranks only make or destroy something.
  static constexpr std::chrono::seconds where_nothing_runs{30};

  // Starts a thread that prints state() after each interval until its end. Throws invalid_option.
  explicit watchdog(std::function<std::string()> state, std::chrono::seconds if_unset = {});
  ~watchdog() { over_.request_stop(); }

  // 0: the library reports nothing. Throws invalid_option.
  [[nodiscard]] static std::chrono::seconds interval(std::chrono::seconds if_unset = {});
  // Whether TEFF_WATCHDOG sets an interval. Throws invalid_option.
  [[nodiscard]] static bool is_on() { return interval().count() != 0; }

 private:
  std::stop_source over_;
  own_thread thread_;
};

}  // namespace teff::detail
