// Prints to stderr why a long wait for other ranks goes on.
#pragma once

#include <teff/transport.hpp>

#include "platform/own_thread.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace teff::detail {

// TEFF_WATCHDOG is the interval in seconds. If it is 0, nothing is printed, and there is no thread.
class watchdog {
 public:
  // The interval, if TEFF_WATCHDOG is unset, where ranks only make or destroy something.
  static constexpr std::chrono::seconds where_nothing_runs{30};

  // Starts a thread that prints state() after each interval until its end. Throws invalid_option.
  explicit watchdog(std::function<std::string()> state, std::chrono::seconds if_unset = {});
  ~watchdog();

  // Whether TEFF_WATCHDOG sets an interval. Throws invalid_option.
  [[nodiscard]] static bool is_on();

  // Opens or closes a channel of the communicator `whose` under a watchdog, since ranks may wait for each
  // other in both. One rank alone waits for none.
  [[nodiscard]] static std::unique_ptr<channel> open(transport& through, const std::string& whose);
  static void close(std::unique_ptr<channel> open, const std::string& whose, int rank, int ranks) noexcept;

 private:
  std::stop_source over_;
  own_thread thread_;
};

}  // namespace teff::detail
