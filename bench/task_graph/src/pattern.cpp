#include "teff/graphs/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "teff/graphs/random.hpp"
#include "teff/graphs/task_graph.hpp"

namespace teff::graphs {
namespace {

using graph = task_graph;
using std::int64_t;

// ---- answers that many patterns share

interval full_width(const graph& g, int64_t) {
  return {0, g.width - 1};
}
int64_t one_set(const graph&) {
  return 1;
}
int64_t first_set(const graph&, int64_t) {
  return 0;
}
int64_t period_sets(const graph& g) {
  return g.period;
}
int64_t set_by_period(const graph& g, int64_t timestep) {
  return timestep % g.period;
}
std::string anything_goes(const graph&) {
  return {};
}
void nothing(const graph&, int64_t, int64_t, const interval_sink&) {}

/// The points of a window around `point`, clipped to the graph.
interval window(const graph& g, int64_t point, int64_t before, int64_t after) {
  return {point - std::min(before, point), point + std::min(after, g.width - 1 - point)};
}

/// ceil(log2 width)
int64_t levels(const graph& g) {
  return std::bit_width(static_cast<std::uint64_t>(g.width - 1));
}

/// min(width, 2^level)
int64_t tree_width(const graph& g, int64_t level) {
  return level >= levels(g) ? g.width : int64_t{1} << level;
}

/// value mod width in [0, width), for values whose sums would leave 64 bits
int64_t wrap(const graph& g, __int128 value) {
  const auto rest = static_cast<int64_t>(value % g.width);
  return rest < 0 ? rest + g.width : rest;
}

std::string radix_within_width(const graph& g) {
  if (g.radix <= g.width) return {};
  return fmt::format(
      "-radix {} is more than -width {}: pattern '{}' needs as many distinct points as its radix; lower the "
      "radix "
      "or widen the graph",
      g.radix, g.width, g.pattern->name);
}

// ---- no_comm

void itself(const graph&, int64_t, int64_t point, const interval_sink& sink) {
  sink({point, point});
}

// ---- stencil_1d, stencil_1d_periodic

void neighbours(const graph& g, int64_t, int64_t point, const interval_sink& sink) {
  sink(window(g, point, 1, 1));
}

void neighbours_on_a_ring(const graph& g, int64_t, int64_t point, const interval_sink& sink) {
  sink(window(g, point, 1, 1));
  if (g.width <= 2) return;  // the window is the whole ring already
  if (point == 0) sink({g.width - 1, g.width - 1});
  if (point == g.width - 1) sink({0, 0});
}

// ---- sweep (and dom's dependencies): a wavefront

void left_and_itself(const graph& g, int64_t, int64_t point, const interval_sink& sink) {
  sink(window(g, point, 1, 0));
}

void itself_and_right(const graph& g, int64_t, int64_t point, const interval_sink& sink) {
  sink(window(g, point, 0, 1));
}

// ---- dom: a diamond that widens from one point and narrows to one

interval diamond(const graph& g, int64_t timestep) {
  const int64_t offset = std::max<int64_t>(0, timestep + g.width - g.steps);
  const int64_t width = std::min({g.width, timestep + 1, g.steps - timestep});
  return {offset, offset + width - 1};
}

// ---- tree: fan-out from point 0; tree_in_out: fan-out, then the mirror-image fan-in, and again

void parent(const graph&, int64_t, int64_t point, const interval_sink& sink) {
  sink({point / 2, point / 2});
}

void children(const graph& g, int64_t, int64_t point, const interval_sink& sink) {
  sink(interval{2 * point, 2 * point + 1}.clipped_to({0, g.width - 1}));
}

interval fan_out(const graph& g, int64_t timestep) {
  return {0, tree_width(g, timestep) - 1};
}

constexpr int64_t out = 0;
constexpr int64_t in = 1;

/// Timesteps from one root to the next: down `levels`, up `levels`.
int64_t cycle(const graph& g) {
  return std::max<int64_t>(1, 2 * levels(g));
}

interval fan_out_and_in(const graph& g, int64_t timestep) {
  const int64_t phase = timestep % cycle(g);
  return {0, tree_width(g, std::min(phase, cycle(g) - phase)) - 1};
}

int64_t fan_direction(const graph& g, int64_t timestep) {
  const int64_t phase = timestep % cycle(g);
  return phase >= 1 && phase <= levels(g) ? out : in;
}

int64_t two_sets(const graph&) {
  return 2;
}

void fan_dependencies(const graph& g, int64_t set, int64_t point, const interval_sink& sink) {
  (set == out ? parent : children)(g, set, point, sink);
}

void fan_reverse(const graph& g, int64_t set, int64_t point, const interval_sink& sink) {
  (set == out ? children : parent)(g, set, point, sink);
}

// ---- fft: butterflies

int64_t fft_sets(const graph& g) {
  return std::max<int64_t>(1, levels(g));
}

int64_t fft_set(const graph& g, int64_t timestep) {
  return (timestep + fft_sets(g) - 1) % fft_sets(g);
}

void butterfly(const graph& g, int64_t set, int64_t point, const interval_sink& sink) {
  const int64_t stride = int64_t{1} << set;
  if (point >= stride) sink({point - stride, point - stride});
  sink({point, point});
  if (stride < g.width - point) sink({point + stride, point + stride});
}

// ---- all_to_all

void everyone(const graph& g, int64_t, int64_t, const interval_sink& sink) {
  sink({0, g.width - 1});
}

// ---- nearest

interval nearest_inputs(const graph& g, int64_t point) {
  return g.radix > 0 ? window(g, point, g.radix / 2, (g.radix - 1) / 2) : interval{};
}

interval nearest_consumers(const graph& g, int64_t point) {
  return g.radix > 0 ? window(g, point, (g.radix - 1) / 2, g.radix / 2) : interval{};
}

void nearest(const graph& g, int64_t, int64_t point, const interval_sink& sink) {
  sink(nearest_inputs(g, point));
}

void nearest_reverse(const graph& g, int64_t, int64_t point, const interval_sink& sink) {
  sink(nearest_consumers(g, point));
}

// ---- spread: radix points spread over the width, shifted a little at each timestep of the period

__int128 spread_distance(const graph& g, int64_t set, int64_t i) {
  return static_cast<__int128>(i) * g.width / g.radix + (i > 0 ? set : 0);
}

void spread(const graph& g, int64_t set, int64_t point, const interval_sink& sink) {
  for (int64_t i = 0; i < g.radix; ++i) {
    const int64_t each = wrap(g, point + spread_distance(g, set, i));
    sink({each, each});
  }
}

void spread_reverse(const graph& g, int64_t set, int64_t point, const interval_sink& sink) {
  for (int64_t i = 0; i < g.radix; ++i) {
    const int64_t each = wrap(g, point - spread_distance(g, set, i));
    sink({each, each});
  }
}

std::string spread_check(const graph& g) {
  if (g.radix == 0) return {};
  if (std::string reason = radix_within_width(g); !reason.empty()) return reason;
  const int64_t most = (g.width - 1) / g.radix + 1;
  if (g.period <= most) return {};
  return fmt::format(
      "-period {} is too long: pattern 'spread' of -width {} and -radix {} repeats points after a period of "
      "{}; "
      "give -period 1 to {}",
      g.period, g.width, g.radix, most, most);
}

// ---- random_nearest: each point of the nearest window with probability `fraction`; a point's own always

/// Passes on the runs of points in `candidates` that `includes` accepts.
template <class Predicate>
void runs(interval candidates, const interval_sink& sink, Predicate includes) {
  int64_t start = candidates.first;
  for (int64_t i = candidates.first; i <= candidates.last; ++i) {
    if (includes(i)) continue;
    sink({start, i - 1});
    start = i + 1;
  }
  sink({start, candidates.last});
}

void random_nearest(const graph& g, int64_t set, int64_t point, const interval_sink& sink) {
  runs(nearest_inputs(g, point), sink,
       [&](int64_t i) { return i == point || uniform({g.index, g.radix, set, i, point}) < g.fraction; });
}

void random_nearest_reverse(const graph& g, int64_t set, int64_t point, const interval_sink& sink) {
  runs(nearest_consumers(g, point), sink,
       [&](int64_t i) { return i == point || uniform({g.index, g.radix, set, point, i}) < g.fraction; });
}

// ---- random_spread: a graph of in-degree and out-degree `radix`, drawn anew for each dependence set. The
// published benchmark names it and leaves it open. Ours relabels the points by a drawn permutation and joins
// each label to `radix` drawn distances, one from each of `radix` equal strata of the width. So the distances
// are distinct, and the mirror image needs only the inverse permutation.

/// A drawn permutation of [0, width): a four-round Feistel network over the next even power of two. It is
/// repeated until the result lies within the width (at most 4 times on average, so O(1)).
class drawn_permutation {
 public:
  drawn_permutation(const graph& g, int64_t set)
      : g_(g), set_(set), half_(static_cast<int>((std::max<int64_t>(levels(g), 2) + 1) / 2)) {}

  [[nodiscard]] int64_t operator()(int64_t point) const {
    do point = forward(point);
    while (point >= g_.width);
    return point;
  }
  [[nodiscard]] int64_t inverse(int64_t label) const {
    do label = backward(label);
    while (label >= g_.width);
    return label;
  }

 private:
  static constexpr int rounds = 4;

  [[nodiscard]] int64_t mask() const { return (int64_t{1} << half_) - 1; }
  [[nodiscard]] int64_t draw(int64_t round, int64_t half) const {
    const std::array<int64_t, 5> key{g_.index, g_.radix, set_, round, half};
    return static_cast<int64_t>(random_bits(key)) & mask();
  }
  [[nodiscard]] int64_t forward(int64_t value) const {
    int64_t left = value >> half_;
    int64_t right = value & mask();
    for (int64_t round = 0; round < rounds; ++round) {
      left ^= draw(round, right);
      std::swap(left, right);
    }
    return left << half_ | right;
  }
  [[nodiscard]] int64_t backward(int64_t value) const {
    int64_t left = value >> half_;
    int64_t right = value & mask();
    for (int64_t round = rounds - 1; round >= 0; --round) {
      std::swap(left, right);
      left ^= draw(round, right);
    }
    return left << half_ | right;
  }

  const graph& g_;
  int64_t set_;
  int half_;
};

__int128 drawn_distance(const graph& g, int64_t set, int64_t i) {
  const auto first = static_cast<int64_t>(static_cast<__int128>(i) * g.width / g.radix);
  const auto next = static_cast<int64_t>(static_cast<__int128>(i + 1) * g.width / g.radix);
  const std::array<int64_t, 4> key{g.index, g.radix, set, i};
  return first + static_cast<int64_t>(random_bits(key) % static_cast<std::uint64_t>(next - first));
}

void random_spread(const graph& g, int64_t set, int64_t point, const interval_sink& sink) {
  const drawn_permutation label(g, set);
  for (int64_t i = 0; i < g.radix; ++i) {
    const int64_t each = label.inverse(wrap(g, label(point) + drawn_distance(g, set, i)));
    sink({each, each});
  }
}

void random_spread_reverse(const graph& g, int64_t set, int64_t point, const interval_sink& sink) {
  const drawn_permutation label(g, set);
  for (int64_t i = 0; i < g.radix; ++i) {
    const int64_t each = label.inverse(wrap(g, label(point) - drawn_distance(g, set, i)));
    sink({each, each});
  }
}

// ---- the list

/// A pattern of full width and one dependence set.
constexpr pattern steady(std::string_view name, std::string_view summary,
                         decltype(pattern::dependencies) forward,
                         decltype(pattern::reverse_dependencies) reverse) {
  return {.name = name,
          .summary = summary,
          .points = full_width,
          .sets = one_set,
          .set_at = first_set,
          .dependencies = forward,
          .reverse_dependencies = reverse,
          .check = anything_goes};
}

/// A pattern of full width whose `period` dependence sets are drawn or shifted.
constexpr pattern periodic(std::string_view name, std::string_view summary,
                           decltype(pattern::dependencies) forward,
                           decltype(pattern::reverse_dependencies) reverse, decltype(pattern::check) check) {
  return {.name = name,
          .summary = summary,
          .uses_radix = true,
          .uses_period = true,
          .points = full_width,
          .sets = period_sets,
          .set_at = set_by_period,
          .dependencies = forward,
          .reverse_dependencies = reverse,
          .check = check};
}

/// A pattern whose width varies over the timesteps.
constexpr pattern shaped(pattern base, decltype(pattern::points) points) {
  base.points = points;
  base.varying_width = true;
  return base;
}

constexpr pattern with_sets(pattern base, decltype(pattern::sets) sets, decltype(pattern::set_at) set_at) {
  base.sets = sets;
  base.set_at = set_at;
  return base;
}

constexpr pattern with_radix(pattern base) {
  base.uses_radix = true;
  return base;
}

constexpr pattern with_fraction(pattern base) {
  base.uses_fraction = true;
  return base;
}

constexpr std::array all_patterns{
    steady("trivial", "no dependences", nothing, nothing),
    steady("no_comm", "each point on itself", itself, itself),
    steady("stencil_1d", "each point on itself and its neighbours", neighbours, neighbours),
    steady("stencil_1d_periodic", "a stencil on a ring", neighbours_on_a_ring, neighbours_on_a_ring),
    steady("sweep", "each point on itself and its left neighbour", left_and_itself, itself_and_right),
    shaped(steady("dom", "a wavefront through a diamond", left_and_itself, itself_and_right), diamond),
    shaped(steady("tree", "fan-out from one point", parent, children), fan_out),
    shaped(with_sets(steady("tree_in_out", "fan-out from one point, then fan-in to one", fan_dependencies,
                            fan_reverse),
                     two_sets, fan_direction),
           fan_out_and_in),
    with_sets(steady("fft", "butterflies", butterfly, butterfly), fft_sets, fft_set),
    steady("all_to_all", "each point on all", everyone, everyone),
    with_radix(steady("nearest", "each point on the radix nearest", nearest, nearest_reverse)),
    periodic("spread", "radix points spread over the width", spread, spread_reverse, spread_check),
    with_fraction(periodic("random_nearest", "a drawn fraction of the radix nearest", random_nearest,
                           random_nearest_reverse, anything_goes)),
    periodic("random_spread", "radix drawn points of the width", random_spread, random_spread_reverse,
             radix_within_width),
};

}  // namespace

std::span<const pattern> patterns() {
  return all_patterns;
}

const pattern* find_pattern(std::string_view name) {
  const auto* found = std::ranges::find(all_patterns, name, &pattern::name);
  return found == all_patterns.end() ? nullptr : found;
}

}  // namespace teff::graphs
