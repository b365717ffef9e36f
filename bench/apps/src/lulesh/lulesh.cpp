#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lulesh/domain.hpp"
#include "lulesh/known.hpp"
#include "lulesh/neighbours.hpp"
#include "lulesh/time_step.hpp"
#include "teff/apps/app.hpp"
#include "teff/bench/failure.hpp"

namespace teff::apps::lulesh {
namespace {

constexpr std::int64_t block = 16;  // elements or nodes of an iteration of a step
constexpr double tolerance = 1e-10;

index as_index(std::int64_t number) {
  return static_cast<index>(number);
}

/// The reads of chunks' neighbours, each found once: a step names the same chunks in each time step.
class neighbours {
 public:
  using finder = std::vector<index> (*)(const domain&, lulesh::range);
  /// `what` has a value for each neighbour.
  neighbours(const domain& of, finder find, const field& what) : of_(of), find_(find), what_(what) {}

  void read(apps::range chunk, access_list& all) {
    const auto [found, is_new] = known_.try_emplace({chunk.begin, chunk.end});
    access_list& reads = found->second;
    if (is_new) read_each(what_, find_(of_, {as_index(chunk.begin), as_index(chunk.end)}), reads);
    all.insert(all.end(), reads.begin(), reads.end());
  }

 private:
  const domain& of_;
  finder find_;
  const field& what_;
  std::map<std::pair<std::int64_t, std::int64_t>, access_list> known_;
};

/// An array as it was before the first run.
struct kept {
  explicit kept(values of) : now(of), first(of.begin(), of.end()) {}
  values now;
  std::vector<double> first;
};

/// How many domains share an edge of the cube, if each rank has one. Throws bench::usage_error.
int domains_along_edge(index edge, int ranks) {
  const int parts = static_cast<int>(std::lround(std::cbrt(ranks)));
  if (parts * parts * parts != ranks)
    throw bench::usage_error(fmt::format(
        "-size {}: {} ranks do not divide a cube into equal cubes, as 1, 8 or 27 ranks do; start 8 by "
        "--ranks 8, or 1 by --workers 1",
        edge, ranks));
  if (edge % parts != 0)
    throw bench::usage_error(fmt::format("-size {}: {} of {} ranks share each edge; take a multiple of {}",
                                         edge, parts, ranks, parts));
  return parts;
}
setting setting_of(index edge, const place& at) {
  const int parts = domains_along_edge(edge, at.ranks);
  return {.edge = edge / parts,
          .parts = parts,
          .place = {at.rank % parts, at.rank / parts % parts, at.rank / (parts * parts)}};
}

/// An exchange, with fields for the values that cross.
struct exchange_fields {
  explicit exchange_fields(exchange& of)
      : what(of), sent(std::span<double>(of.sent)), received(std::span<double>(of.received)) {}
  exchange& what;
  field sent;
  field received;
};

/// The blast on one rank. A field below stands for all arrays that the same step writes.
class blast final : public app {
 public:
  blast(index edge, const place& at)
      : at_(setting_of(edge, at)),
        nodes_(at_.position.x, block),
        corners_(at_.corner_force.x.first(static_cast<std::size_t>(at_.elements)), block),
        shape_(at_.spread[0].first(static_cast<std::size_t>(at_.elements)), block),
        viscosity_(at_.linear_viscosity, block),
        material_(at_.energy, block),
        clock_(std::span(&at_.clock.time, 1)),
        limits_(std::span<double>(at_.limits.all()), 3),
        ghost_forces_(at_.corner_force.x.subspan(static_cast<std::size_t>(8 * at_.corner_stride + 1))),
        ghost_spreads_(at_.spread[0].subspan(static_cast<std::size_t>(at_.first_ghost(0)))),
        crossing_forces_(at_.of_forces),
        crossing_spreads_(at_.of_spreads),
        corners_of_elements_(at_, nodes_of, nodes_),
        elements_of_nodes_(at_, elements_at, corners_),
        elements_beside_elements_(at_, elements_beside, shape_),
        first_clock_(at_.clock) {
    for (const vectors* each : {&at_.position, &at_.velocity, &at_.force, &at_.corner_force})
      for (const values& one : {each->x, each->y, each->z}) kept_.emplace_back(one);
    for (const values& one :
         {at_.energy,      at_.pressure,   at_.viscosity,     at_.linear_viscosity, at_.quadratic_viscosity,
          at_.volume,      at_.new_volume, at_.volume_change, at_.expansion,        at_.length,
          at_.sound_speed, at_.new_energy, at_.new_pressure,  at_.new_viscosity,    at_.extent[0],
          at_.extent[1],   at_.extent[2],  at_.spread[0],     at_.spread[1],        at_.spread[2]})
      kept_.emplace_back(one);
    energy_at_first_ = energy();
  }

  void reset() override {
    for (const kept& each : kept_) std::ranges::copy(each.first, each.now.begin());
    at_.clock = first_clock_;
    at_.limits = {};
    fault_.clear();
    is_over_ = false;
    is_last_ = false;
  }

  /// Makes some time steps before it looks whether the time is over: on all ranks as many, so that all make
  /// the same crossings. Time steps after the end move no node and change no element.
  void run(way& by) override {
    constexpr int time_steps_at_once = 4;
    while (!is_last_) {
      for (int made = 0; made < time_steps_at_once; ++made) make_time_step(by);
      by.wait();
    }
  }

  /// The blast spreads alike along all axes. No energy is gained, and no element is turned inside out.
  [[nodiscard]] finding check(way& by) override {
    std::vector<double> energies = energies_of_cube();
    std::array<double, 2> sums{energy(), energy_at_first_};
    std::array<double, 1> least{*std::ranges::min_element(at_.volume)};
    const field all[] = {field{std::span<double>(energies)}, field{std::span<double>(sums)},
                         field{std::span<double>(least)}};
    by.over().reduce(all[0], reduction::sum);
    by.over().reduce(all[1], reduction::sum);
    by.over().reduce(all[2], reduction::least);
    by.wait();

    finding found{.residual = asymmetry(energies), .bound = 1e-8, .wrong = fault_};
    found.own = {{"iterations", at_.clock.steps}, {"origin_energy", energies[0]}};
    const double gained = sums[0] / sums[1];
    if (found.wrong.empty() && !(gained <= 1.001))
      found.wrong = fmt::format("the energy grew to {:.6g} times its first value: it must not grow", gained);
    if (found.wrong.empty() && !(least[0] > 0)) found.wrong = "an element is turned inside out";
    if (found.wrong.empty() && !(at_.clock.time >= stop_time))
      found.wrong = fmt::format("the time is {:.6g} at the end: it must be {:g}", at_.clock.time, stop_time);
    if (found.wrong.empty()) found.wrong = difference_to_known(energies[0]);
    return found;
  }

  [[nodiscard]] double work() const override {
    return std::pow(edge_of_cube(), 3) * std::max(at_.clock.steps, 1);
  }
  [[nodiscard]] bench::json parameters() const override { return {{"size", edge_of_cube()}}; }

 private:
  using kernel = void (*)(domain&, index, index);

  /// Whether there are other domains.
  [[nodiscard]] bool is_part() const { return at_.at.parts > 1; }
  [[nodiscard]] index edge_of_cube() const { return at_.at.parts * at_.at.edge; }

  [[nodiscard]] static std::int64_t blocks(std::int64_t count) { return (count + block - 1) / block; }

  /// Calls the kernels for blocks of all elements or nodes, unless the time is over.
  void run_kernels(way& by, std::string_view name, const field& over, std::initializer_list<kernel> all,
                   std::function<void(apps::range, access_list&)> accesses) {
    by.run({.name = name,
            .count = blocks(over.count),
            .accesses = std::move(accesses),
            .body = [this, &over, kernels = std::vector<kernel>(all)](apps::range some) {
              if (is_over_) return;
              const apps::range chunk = covered(over, some);
              for (const kernel each : kernels) each(at_, as_index(chunk.begin), as_index(chunk.end));
            }});
  }

  void begin() {
    is_over_ = is_last_;
    if (is_over_) return;
    try {
      begin_step(at_);
      is_last_ = at_.clock.time >= stop_time;
    } catch (const std::exception& failure) {
      fault_ = failure.what();
      is_over_ = true;
      is_last_ = true;
    }
  }

  /// Brings values that a step has written to the ghosts of the domains around.
  void cross(way& by, exchange_fields& all, const field& written, const field& ghosts) {
    if (!is_part()) return;
    by.run({.name = "collect",
            .accesses = [&](apps::range, access_list& named) { named = {in(written), out(all.sent)}; },
            .body = [&all](apps::range) { all.what.collect(); }});
    std::vector<crossing> messages;
    for (const exchange::message& each : all.what.messages) {
      const apps::range values{each.first, each.first + each.count};
      messages.push_back(
          {each.rank, {access_mode::in, &all.sent, values}, {access_mode::out, &all.received, values}});
    }
    by.over().exchange(messages);
    by.run({.name = "distribute",
            .accesses = [&](apps::range, access_list& named) { named = {in(all.received), out(ghosts)}; },
            .body = [&all](apps::range) { all.what.distribute(); }});
  }

  void make_time_step(way& by) {
    by.over().reduce(limits_, reduction::least);
    by.run({.name = "begin",
            .accesses = [this](apps::range, access_list& all) { all = {inout(clock_), inout(limits_)}; },
            .body = [this](apps::range) { begin(); }});
    // It reads neither the clock nor is_over_: it may run before the limits of the last step are known.
    by.run({.name = "push",
            .count = blocks(at_.elements),
            .accesses =
                [this](apps::range some, access_list& all) {
                  all = {in(material_, some), out(corners_, some)};
                  corners_of_elements_.read(covered(corners_, some), all);
                },
            .body =
                [this](apps::range some) {
                  const apps::range chunk = covered(corners_, some);
                  push_corners(at_, as_index(chunk.begin), as_index(chunk.end));
                }});
    cross(by, crossing_forces_, corners_, ghost_forces_);
    run_kernels(by, "move", nodes_, {sum_forces, move_nodes}, [this](apps::range some, access_list& all) {
      all = {in(clock_), inout(nodes_, some)};
      elements_of_nodes_.read(covered(nodes_, some), all);
      if (is_part()) all.push_back(in(ghost_forces_));
    });
    run_kernels(by, "deform", shape_, {deform_elements}, [this](apps::range some, access_list& all) {
      all = {in(material_, some), in(clock_), out(shape_, some)};
      corners_of_elements_.read(covered(shape_, some), all);
    });
    cross(by, crossing_spreads_, shape_, ghost_spreads_);
    run_kernels(by, "viscosity", shape_, {limit_viscosity}, [this](apps::range some, access_list& all) {
      all = {in(clock_), out(viscosity_, some)};
      elements_beside_elements_.read(covered(shape_, some), all);
      if (is_part()) all.push_back(in(ghost_spreads_));
    });
    // The chunks lower the limits by atomic operations, so they name them as memory that all may share.
    run_kernels(
        by, "material", material_, {update_material, limit_step}, [this](apps::range some, access_list& all) {
          all = {in(shape_, some), in(viscosity_, some), in(clock_), in(limits_), inout(material_, some)};
        });
  }

  /// Of the internal and the kinetic energy, the sum. A node of several ranks counts on one of them.
  [[nodiscard]] double energy() const {
    double sum = 0;
    for (std::size_t i = 0; i < at_.energy.size(); ++i) sum += at_.energy[i] * at_.rest_volume[i];
    const auto first = [this](std::size_t axis) { return at_.at.place[axis] > 0 ? 1 : 0; };
    const index edge = at_.at.edge;
    for (index k = first(2); k <= edge; ++k)
      for (index j = first(1); j <= edge; ++j)
        for (index i = first(0); i <= edge; ++i) {
          const auto node = static_cast<std::size_t>(at_.node(i, j, k));
          for (const values& each : {at_.velocity.x, at_.velocity.y, at_.velocity.z})
            sum += 0.5 * at_.node_mass[node] * each[node] * each[node];
        }
    return sum;
  }

  [[nodiscard]] std::size_t place_in_cube(index i, index j, index k) const {
    const auto edge = static_cast<std::size_t>(edge_of_cube());
    return static_cast<std::size_t>(i) +
           edge * (static_cast<std::size_t>(j) + edge * static_cast<std::size_t>(k));
  }
  /// The energies of the elements of the whole cube. Elements of other ranks have 0.
  [[nodiscard]] std::vector<double> energies_of_cube() const {
    const index edge = at_.at.edge;
    const auto& [x, y, z] = at_.at.place;
    std::vector<double> all(place_in_cube(0, 0, edge_of_cube()));
    for (index k = 0; k < edge; ++k)
      for (index j = 0; j < edge; ++j)
        for (index i = 0; i < edge; ++i)
          all[place_in_cube(x * edge + i, y * edge + j, z * edge + k)] =
              at_.energy[static_cast<std::size_t>(at_.element(i, j, k))];
    return all;
  }

  /// The greatest difference of elements that mirror each other, by the greatest energy.
  [[nodiscard]] double asymmetry(const std::vector<double>& energies) const {
    double greatest = 0;
    const index edge = edge_of_cube();
    for (index k = 0; k < edge; ++k)
      for (index j = 0; j < edge; ++j)
        for (index i = 0; i < edge; ++i) {
          const double here = energies[place_in_cube(i, j, k)];
          const double apart = std::max(std::abs(here - energies[place_in_cube(j, i, k)]),
                                        std::abs(here - energies[place_in_cube(k, j, i)]));
          if (!(apart <= greatest)) greatest = apart;
        }
    return greatest / *std::ranges::max_element(energies);
  }

  [[nodiscard]] std::string difference_to_known(double origin_energy) const {
    const auto* const known = std::ranges::find(all_known, edge_of_cube(), &known::edge);
    if (known == std::end(all_known)) return {};
    if (at_.clock.steps != known->steps)
      return fmt::format("it took {} iterations: it must take {}", at_.clock.steps, known->steps);
    if (!(std::abs(origin_energy / known->origin_energy - 1) <= tolerance))
      return fmt::format("the energy at the origin is {:.12e}: it must be {:.12e}", origin_energy,
                         known->origin_energy);
    return {};
  }

  domain at_;
  field nodes_;      ///< positions, velocities and forces
  field corners_;    ///< the forces on all corners of an element
  field shape_;      ///< of an element, and how it changes
  field viscosity_;  ///< its two parts
  field material_;   ///< the state of an element
  field clock_;
  field limits_;
  field ghost_forces_;
  field ghost_spreads_;
  exchange_fields crossing_forces_;
  exchange_fields crossing_spreads_;
  neighbours corners_of_elements_;
  neighbours elements_of_nodes_;
  neighbours elements_beside_elements_;
  std::vector<kept> kept_;
  clock first_clock_;
  double energy_at_first_ = 0;
  std::string fault_;
  bool is_over_ = false;  ///< steps that name the clock read it
  bool is_last_ = false;  ///< whether the time is over after this time step
};

}  // namespace

description::maker read_flags(bench::flag_parser& parser) {
  constexpr int largest = 200;
  const auto edge = std::make_shared<int>(30);
  parser.add("--size", *edge, "elements along an edge of the cube, which 1, 8 or 27 ranks share")
      .within(2, largest)
      .takes("COUNT");
  return [edge](const place& at) { return std::make_unique<blast>(*edge, at); };
}

}  // namespace teff::apps::lulesh

namespace teff::apps {

description describe_lulesh() {
  return {.name = "lulesh",
          .title = "shock hydrodynamics on hexahedra, a blast in a cube (LULESH 2.0)",
          .unit = "zone",
          .ways = {way_kind::loops, way_kind::worksharing, way_kind::tasks},
          .cases = {{"lulesh-10", "blast, 10 x 10 x 10 elements", "-size 10"},
                    {"lulesh-20", "blast, 20 x 20 x 20 elements", "-size 20", false},
                    {"lulesh-30", "blast, 30 x 30 x 30 elements", "-size 30", false},
                    {"lulesh-5", "blast, 5 x 5 x 5 elements", "-size 5", false, {1}},
                    {"lulesh-4", "blast, 4 x 4 x 4 elements", "-size 4", false, {8}}},
          .own = {{"iterations", "time steps"},
                  {"origin_energy", "the energy of the element at the origin, at the end"}},
          .residual =
              "the greatest difference of the energies of elements that mirror each other, by the greatest "
              "energy",
          .flags = &lulesh::read_flags};
}

}  // namespace teff::apps
