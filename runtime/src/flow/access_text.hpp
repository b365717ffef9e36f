// Accesses in words, for errors and reports.
#pragma once

#include <teff/detail/flow/access.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

namespace teff::detail {

inline const char* mode_in_words(access_mode mode) noexcept {
  static constexpr const char* names[] = {"in", "inout", "concurrent", "commutative", "reduction"};
  return names[static_cast<int>(mode)];
}

inline std::string address_in_words(std::uintptr_t address) {
  char text[2 + 2 * sizeof address + 1];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

// As "in of 8 bytes at 0x7fff1000".
inline std::string access_in_words(const access& what) {
  return (what.weak ? "weak " : "") + std::string(mode_in_words(what.mode)) + " of " +
         (what.rows == 1 ? "" : std::to_string(what.rows) + " rows of ") + std::to_string(what.bytes) +
         " bytes at " + address_in_words(reinterpret_cast<std::uintptr_t>(what.first));
}

}  // namespace teff::detail
