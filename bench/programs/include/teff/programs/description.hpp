#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace teff::programs {

/// The ways to be parallel (ways.hpp), of which each program needs one.
enum class way : std::uint8_t { fork_join, loops, graphs, pipelines, requests };

/// How large a program's input is: for tests, as usual, for patient people.
enum class scale : std::uint8_t { tiny, usual, large };

/// The facts about a program that need no run.
struct description {
  std::string_view name;
  std::string_view title;
  way needs;
  std::string_view unit;              ///< what `size` counts
  std::array<std::int64_t, 3> sizes;  ///< by scale
  std::int64_t least = 1;             ///< the smallest size that it takes,
  std::int64_t most = 0;              ///< and the largest
  bool power_of_two = false;          ///< whether it takes only such sizes

  [[nodiscard]] constexpr std::int64_t size(scale of) const { return sizes.at(static_cast<std::size_t>(of)); }
};

}  // namespace teff::programs
