// Accesses, row by row and in words.
#pragma once

#include <teff/detail/flow/access.hpp>
#include <teff/detail/flow/flow_task.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace teff::detail {

// The memory that an access names. Rows without room between them are one row.
inline flow_box box_of(const access& what) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(what.first);
  if (what.rows > 1 && what.stride > what.bytes) return {begin, what.bytes, what.rows, what.stride};
  return {begin, what.bytes == 0 ? 0 : (what.rows - 1) * what.stride + what.bytes, 1, 0};
}
// Calls visit(begin, end) for each row of memory that the access names.
template <class Visit>
void each_row(const access& what, Visit visit) {
  const auto box = box_of(what);
  for (std::size_t row = 0; box.bytes != 0 && row < box.rows; ++row)
    visit(box.begin + row * box.stride, box.begin + row * box.stride + box.bytes);
}

// Whether two boxes share memory; maybe not, if their strides differ.
inline bool may_overlap(const flow_box& a, const flow_box& b) noexcept {
  if (a.begin > b.begin) return may_overlap(b, a);
  if (a.end() <= b.begin || a.rows == 1) return a.end() > b.begin;
  if (b.rows > 1 && b.stride != a.stride) return true;
  const auto row = (b.begin - a.begin) / a.stride;
  const auto column = (b.begin - a.begin) % a.stride;
  return (column < a.bytes && row < a.rows) || (column + b.bytes > a.stride && row + 1 < a.rows);
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
