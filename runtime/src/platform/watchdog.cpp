#include "platform/watchdog.hpp"

#include <teff/error.hpp>

#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

namespace teff::detail {

std::chrono::seconds watchdog::interval(std::chrono::seconds if_unset) {
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

watchdog::watchdog(std::function<std::string()> state, std::chrono::seconds if_unset) {
  const auto wait = interval(if_unset);
  if (wait.count() == 0) return;
  thread_.start([wait, state = std::move(state), over = over_.get_token()] {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    for (auto passed = wait; !ended.wait_for(lock, over, wait, [] { return false; }); passed += wait) {
      if (over.stop_requested()) return;
      std::fprintf(stderr, "teff: %s (for %lld s)\n", state().c_str(),
                   static_cast<long long>(passed.count()));
    }
  });
}

}  // namespace teff::detail
