#include "hpcg/domain.hpp"

#include <fmt/format.h>

#include <numeric>

#include "teff/bench/failure.hpp"

namespace teff::apps::hpcg {
namespace {

constexpr std::int64_t most_rows = std::int64_t{1} << 26;  // 27 entries a row are counted in 32 bits

/// As near a cube as their number allows, longest along z.
box box_of_ranks(int ranks) {
  box made{1, 1, ranks};
  for (int x = 1; x * x * x <= ranks; ++x)
    if (ranks % x == 0) made.x = x;
  for (int y = 1; y * y <= ranks / made.x; ++y)
    if (ranks / made.x % y == 0) made.y = y;
  made.z = ranks / (made.x * made.y);
  return made;
}

}  // namespace

domain domain_of(const box& whole, int rank, int ranks) {
  const box all = box_of_ranks(ranks);
  const int multiple = 8 * std::lcm(all.x, std::lcm(all.y, all.z));
  for (const int side : {whole.x, whole.y, whole.z})
    if (side < multiple || side % multiple != 0)
      throw bench::usage_error(
          fmt::format("{} points along a side: four grids{} need a multiple of {}, as {}", side,
                      ranks > 1 ? fmt::format(" over {} ranks", ranks) : "", multiple,
                      side < multiple ? multiple : side - side % multiple));
  const domain made{.points = {whole.x / all.x, whole.y / all.y, whole.z / all.z},
                    .ranks = all,
                    .at = {rank % all.x, rank / all.x % all.y, rank / (all.x * all.y)}};
  if (std::int64_t{made.points.x} * made.points.y * made.points.z > most_rows)
    throw bench::usage_error(
        fmt::format("{} x {} x {} points: a rank has at most {}, so take shorter sides or more ranks",
                    whole.x, whole.y, whole.z, most_rows));
  return made;
}

halo halo_of(const domain& of) {
  const std::int64_t rows = of.points.rows();
  const std::int64_t plane = std::int64_t{of.points.x} * of.points.y;
  halo made;
  visit_border(of, [&](const box& towards, int rank, int x, int y, int z) {
    if (made.messages.empty() || made.messages.back().rank != rank) {
      const auto next = static_cast<std::int64_t>(made.sent.size());
      made.messages.push_back({.rank = rank,
                               .elements = {next, next},
                               .readers = {towards.z > 0 ? rows - plane : 0, towards.z < 0 ? plane : rows}});
    }
    made.sent.push_back(of.points.row(x, y, z));
    ++made.messages.back().elements.end;
  });
  return made;
}

}  // namespace teff::apps::hpcg
