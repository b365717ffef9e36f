#include "teff/apps/ways.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

void widen(access_list& all, std::int64_t parts) {
  auto end = all.begin();  // of those that stay
  for (field_access each : all) {
    if (each.may_widen) each.elements = each.widened(parts);
    const bool goes_on = each.may_widen && end != all.begin() && end[-1].may_widen &&
                         end[-1].what == each.what && each.elements.begin <= end[-1].elements.end;
    if (goes_on)
      end[-1].elements.end = std::max(end[-1].elements.end, each.elements.end);
    else
      *end++ = each;
  }
  all.erase(end, all.end());
}

}  // namespace teff::apps
