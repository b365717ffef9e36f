// A number for some words that is the same in every process and every build.
#pragma once

#include <cstdint>
#include <string_view>

namespace teff::detail {

// FNV-1a.
constexpr std::uint64_t digest_of(std::string_view words) noexcept {
  std::uint64_t digest = 14695981039346656037U;
  for (const char each : words) digest = (digest ^ static_cast<unsigned char>(each)) * 1099511628211U;
  return digest;
}

}  // namespace teff::detail
