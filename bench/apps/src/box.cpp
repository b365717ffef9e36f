#include "teff/apps/box.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <system_error>

namespace teff::apps {
namespace {

/// Reads a box. Returns whether the text is one of positive numbers.
bool read(const std::string& text, box& into) {
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < into.size(); ++i) {
    if (i > 0 && (at == end || *at++ != 'x')) return false;
    const auto [behind, error] = std::from_chars(at, end, into.at(i));
    if (error != std::errc() || into.at(i) < 1) return false;
    at = behind;
  }
  return at == end;
}

}  // namespace

box box_of(const std::string& text) {
  box made{1, 1, 1};
  read(text, made);
  return made;
}

std::string fault_of_box(const std::string& text) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  box made{};
  const bool is_small = read(text, made) && std::int64_t{made[0]} * made[1] <= most && volume(made) <= most;
  return is_small ? ""
                  : fmt::format("'{}' is not three positive numbers as 20x30x10, of at most 2^31 - 1 in all",
                                text);
}

}  // namespace teff::apps
