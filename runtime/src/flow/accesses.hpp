// Accesses, row by row and in words.
#pragma once

#include <teff/detail/flow/access.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

namespace teff::detail {

// Calls visit(begin, end) for each row of memory that the access names.
template <class Visit>
void each_row(const access& what, Visit visit) {
  for (std::size_t row = 0; what.bytes != 0 && row < what.rows; ++row) {
    const auto begin = reinterpret_cast<std::uintptr_t>(what.first) + row * what.stride;
    visit(begin, begin + what.bytes);
  }
}

inline std::size_t rows_of(std::span<const access> accesses) noexcept {
  std::size_t rows = 0;
  for (const auto& each : accesses)
    if (each.bytes != 0) rows += each.rows;
  return rows;
}

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
