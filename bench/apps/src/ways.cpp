#include "teff/apps/ways.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "teff/bench/failure.hpp"

namespace teff::apps {
namespace {

constexpr std::array<std::string_view, 4> way_names{"loops", "tasks", "worksharing", "graph"};

}  // namespace

std::string_view name_of(way_kind what) {
  return way_names.at(static_cast<std::size_t>(what));
}

way_kind way_named(std::string_view name) {
  const auto* const found = std::ranges::find(way_names, name);
  if (found == way_names.end())
    throw bench::usage_error(fmt::format("--way {}: there are {}", name, fmt::join(way_names, ", ")));
  return static_cast<way_kind>(found - way_names.begin());
}

}  // namespace teff::apps
