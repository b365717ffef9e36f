#include "sssp/generate.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "teff/bench/failure.hpp"

namespace teff::apps::sssp {
namespace {

constexpr std::uint32_t seed = 27491095;
constexpr std::size_t edges_of_a_seed = std::size_t{1} << 18;
constexpr std::size_t edges_a_vertex = 16;
constexpr std::uint32_t longest = 255;

using list_of_edges = std::vector<listed_edge>;

/// A random number below `bound`, each equally likely: numbers above the greatest multiple of `bound` are
/// drawn again.
template <class Random>
std::uint32_t below(std::uint32_t bound, Random& random) {
  constexpr std::uint64_t all = std::uint64_t{1} << 32;
  const auto draw = [&] { return static_cast<std::uint32_t>(random()); };  // the lower half of a longer one
  std::uint32_t drawn = draw();
  while (drawn >= all / bound * bound) drawn = draw();
  return drawn % bound;
}

/// Calls draw(edge, random) for each edge. Each block of edges has its own seed.
template <class Draw>
void draw_each(list_of_edges& list, Draw draw) {
  std::mt19937 random;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i % edges_of_a_seed == 0) random.seed(seed + static_cast<std::uint32_t>(i / edges_of_a_seed));
    draw(list[i], random);
  }
}

list_of_edges empty_list(int scale) {
  return list_of_edges(edges_a_vertex << scale);
}

/// Its vertices are those up to the last one that has an edge.
graph with_lengths(list_of_edges list) {
  draw_each(list, [](listed_edge& each, std::mt19937& random) {
    each.length = static_cast<distance>(below(longest, random)) + 1;
  });
  vertex last = 0;
  for (const listed_edge& each : list) last = std::max({last, each.from, each.to});
  return {last + 1, list};
}

/// Which quarter of the matrix an edge descends into, in 2^-32ths of its probability.
struct quarters {
  static constexpr double range = std::numeric_limits<std::uint32_t>::max();
  static constexpr auto upper_left = static_cast<std::uint32_t>(0.57 * range);
  static constexpr auto other_corner = static_cast<std::uint32_t>(0.19 * range);
  static constexpr std::uint32_t upper = upper_left + other_corner;
  static constexpr std::uint32_t all_but_lower_right = upper + other_corner;
};

void descend(listed_edge& each, std::mt19937& random) {
  const auto drawn = static_cast<std::uint32_t>(random());
  const bool lower = drawn >= quarters::upper;
  const bool right = drawn > (lower ? quarters::all_but_lower_right : quarters::upper_left);
  each.from = each.from * 2 + lower;
  each.to = each.to * 2 + right;
}

void renumber(int scale, list_of_edges& list) {
  std::vector<vertex> number(std::size_t{1} << scale);
  std::iota(number.begin(), number.end(), vertex{0});
  std::shuffle(number.begin(), number.end(), std::mt19937(seed));
  for (listed_edge& each : list) {
    each.from = number[std::size_t(each.from)];
    each.to = number[std::size_t(each.to)];
  }
}

}  // namespace

graph kronecker(int scale) {
  list_of_edges list = empty_list(scale);
  draw_each(list, [scale](listed_edge& each, std::mt19937& random) {
    for (int level = 0; level < scale; ++level) descend(each, random);
  });
  renumber(scale, list);
  return with_lengths(std::move(list));
}

graph uniform(int scale) {
  list_of_edges list = empty_list(scale);
  draw_each(list, [scale](listed_edge& each, std::mt19937& random) {
    each.from = static_cast<vertex>(below(1U << scale, random));
    each.to = static_cast<vertex>(below(1U << scale, random));
  });
  return with_lengths(std::move(list));
}

graph named(std::string_view name) {
  for (const auto& [kind, make] : {std::pair{std::string_view("kron"), &kronecker}, {"uniform", &uniform}}) {
    if (!name.starts_with(kind)) continue;
    const char* const end = name.data() + name.size();
    int scale = 0;
    const auto [stop, error] = std::from_chars(name.data() + kind.size(), end, scale);
    if (error == std::errc() && stop == end && scale >= 1 && scale <= highest_scale) return make(scale);
  }
  throw bench::usage_error("no graph is called '" + std::string(name) +
                           "': it is kron or uniform, and a scale from 1 to " +
                           std::to_string(highest_scale) + ", as in kron14");
}

vertex source(const graph& of) {
  std::mt19937_64 random(seed);
  vertex drawn = 0;
  for (int with_edges = 0; with_edges < 2; with_edges += !of.edges_of(drawn).empty())
    drawn = static_cast<vertex>(below(static_cast<std::uint32_t>(of.vertices()), random));
  return drawn;
}

}  // namespace teff::apps::sssp
