#include "platform/watchdog_interval.hpp"

#include <teff/error.hpp>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace teff::detail {

std::chrono::seconds watchdog_interval(std::chrono::seconds if_unset) {
  const char* const text = std::getenv("TEFF_WATCHDOG");
  if (text == nullptr || *text == '\0') return if_unset;
  std::string_view digits = text;
  if (digits.ends_with('s')) digits.remove_suffix(1);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size())
    throw invalid_option("TEFF_WATCHDOG=" + std::string(text) +
                         ": whole seconds are expected, as 30; 0 turns it off");
  return std::chrono::seconds(value);
}

}  // namespace teff::detail
