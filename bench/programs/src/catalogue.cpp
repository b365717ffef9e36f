#include "teff/programs/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "teff/bench/failure.hpp"

namespace teff::programs {
namespace {

template <class... Program>
constexpr std::array<description, sizeof...(Program)> about(std::type_identity<std::tuple<Program...>>) {
  return {Program::about...};
}
constexpr auto all = about(std::type_identity<all_programs>());

}  // namespace

std::span<const description> catalogue() {
  return all;
}

const description& described(std::string_view name) {
  const auto* const found = std::ranges::find(all, name, &description::name);
  if (found != all.end()) return *found;
  std::vector<std::string_view> known;
  for (const description& each : all) known.push_back(each.name);
  throw bench::usage_error(
      fmt::format("no program is called '{}'; there are: {}", name, fmt::join(known, " ")));
}

}  // namespace teff::programs
