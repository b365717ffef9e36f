#include "lulesh/domain.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <new>

#include "lulesh/hexahedron.hpp"

namespace teff::apps::lulesh {
namespace {

constexpr double cube_edge = 1.125;

/// Cuts spans out of one mapping of zeros. Spans begin in other cache sets than the spans before them, for
/// kernels walk through many at once.
class cutter {
 public:
  explicit cutter(std::byte* memory) : next_(memory) {}

  template <class T>
  std::span<T> take(std::size_t count) {
    T* const first = reinterpret_cast<T*>(next_);
    next_ += (count * sizeof(T) / line + 2) * line;
    return {first, count};
  }

  [[nodiscard]] values take_values(std::size_t count) { return take<double>(count); }
  [[nodiscard]] vectors take_vectors(std::size_t count) {
    return {take_values(count), take_values(count), take_values(count)};
  }

 private:
  static constexpr std::size_t line = 64;
  std::byte* next_;
};

/// All spans of a domain need less. The system gives no memory for pages that no thread touches.
std::size_t bytes_of_domain(const setting& at) {
  const auto side = static_cast<std::size_t>(at.edge) + 2;
  return 1024 * side * side * side;
}

/// Where a node of the whole cube is at first, along an axis.
double coordinate(const setting& at, index number) {
  return cube_edge * number / static_cast<double>(at.parts * at.edge);
}

/// Where an element's corners are in the mesh, from its first corner.
constexpr std::array<std::array<index, 3>, 8> corner_offsets{
    {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}};

double first_volume(const setting& at, index i, index j, index k) {
  hexahedron<double> element;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    const auto& [x, y, z] = corner_offsets[corner];
    element[corner] = {coordinate(at, i + x), coordinate(at, j + y), coordinate(at, k + z)};
  }
  return lulesh::volume(element);
}

/// Calls visit(i, j, k, number) for all of a block of `edge`^3, numbered in order.
template <class Visit>
void for_block(index edge, Visit&& visit) {
  index number = 0;
  for (index k = 0; k < edge; ++k)
    for (index j = 0; j < edge; ++j)
      for (index i = 0; i < edge; ++i) visit(std::array{i, j, k}, static_cast<std::size_t>(number++));
}

void connect_elements(domain& of) {
  const setting& at = of.at;
  const index strides[] = {1, at.edge, at.edge * at.edge};
  for_block(at.edge, [&](const std::array<index, 3>& where, std::size_t element) {
    const auto [i, j, k] = where;
    for (std::size_t corner = 0; corner < 8; ++corner) {
      const auto& [x, y, z] = corner_offsets[corner];
      of.corners[corner][element] = of.node(i + x, j + y, k + z);
    }
    const auto self = static_cast<index>(element);
    const index on_face[] = {j + at.edge * k, i + at.edge * k, i + at.edge * j};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool is_first = where[axis] == 0, is_last = where[axis] == at.edge - 1;
      of.before[axis][element] = !is_first             ? self - strides[axis]
                                 : at.place[axis] == 0 ? self
                                                       : of.first_ghost(0) + on_face[axis];
      of.after[axis][element] = !is_last                         ? self + strides[axis]
                                : at.place[axis] == at.parts - 1 ? of.elements
                                                                 : of.first_ghost(1) + on_face[axis];
    }
  });
}

/// From a domain to a domain that touches it: -1, 0 or 1 along each axis, but not three times 0.
using direction = std::array<index, 3>;

/// Calls visit(direction, rank) for all domains that touch this one, in the order of their ranks.
template <class Visit>
void for_domains_around(const setting& at, Visit&& visit) {
  for (index z = -1; z <= 1; ++z)
    for (index y = -1; y <= 1; ++y)
      for (index x = -1; x <= 1; ++x) {
        const direction towards{x, y, z};
        setting other = at;
        bool is_one = towards != direction{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          other.place[axis] += towards[axis];
          is_one &= other.place[axis] >= 0 && other.place[axis] < at.parts;
        }
        if (is_one) visit(towards, other.rank());
      }
}

/// Calls visit(i, j, k) for the elements of a domain that touch a domain in this direction.
template <class Visit>
void for_border(const domain& of, const direction& towards, Visit&& visit) {
  const index edge = of.at.edge;
  const auto first = [&](std::size_t axis) { return towards[axis] > 0 ? edge - 1 : 0; };
  const auto end = [&](std::size_t axis) { return towards[axis] < 0 ? 1 : edge; };
  for (index k = first(2); k < end(2); ++k)
    for (index j = first(1); j < end(1); ++j)
      for (index i = first(0); i < end(0); ++i) visit(i, j, k);
}

/// Calls visit(element, corner) for the corners of these elements at the nodes that both domains have.
template <class Visit>
void for_common_corners(const domain& of, const direction& towards, Visit&& visit) {
  for_border(of, towards, [&](index i, index j, index k) {
    for (std::size_t corner = 0; corner < 8; ++corner) {
      bool is_common = true;
      for (std::size_t axis = 0; axis < 3; ++axis)
        is_common &= towards[axis] == 0 || corner_offsets[corner][axis] == (towards[axis] > 0 ? 1 : 0);
      if (is_common) visit(of.element(i, j, k), corner);
    }
  });
}

/// As many as for_common_corners() visits.
index count_common_corners(const setting& at, const direction& towards) {
  index count = 1;
  for (const index each : towards) count *= each == 0 ? 2 * at.edge : 1;
  return count;
}
index count_ghosts(const setting& at) {
  index count = 0;
  for_domains_around(at, [&](const direction& towards, int) { count += count_common_corners(at, towards); });
  return count;
}

/// Lists the corners at each node, and where the ghosts among them come from. The loops visit the domain's
/// elements and those around it in the order of the whole cube's. A neighbour sends its corners in that
/// order.
void connect_nodes(domain& of) {
  const index edge = of.at.edge, zero = 8 * of.corner_stride;
  const auto number_of = [](const direction& each) {
    return static_cast<std::size_t>(each[0] + 1 + 3 * (each[1] + 1 + 3 * (each[2] + 1)));
  };
  std::array<index, 27> ghosts{};  // by direction, the next one; 0: there is no domain
  index ghost = zero + 1;
  for_domains_around(of.at, [&](const direction& towards, int rank) {
    of.of_forces.begin(rank);
    ghosts[number_of(towards)] = ghost;
    for (const values& component : {of.corner_force.x, of.corner_force.y, of.corner_force.z}) {
      const double* const own = component.data();
      double* next = component.data() + ghost;
      for_common_corners(of, towards, [&](index element, std::size_t corner) {
        of.of_forces.add(own + static_cast<index>(corner) * of.corner_stride + element, next++);
      });
    }
    ghost += count_common_corners(of.at, towards);
  });

  for (const indices& each : of.node_corners) std::ranges::fill(each, zero);
  std::vector<std::uint8_t> found(static_cast<std::size_t>(of.nodes));
  const auto beyond = [edge](index place) { return place < 0 ? -1 : place == edge ? 1 : 0; };
  for (index k = -1; k <= edge; ++k)
    for (index j = -1; j <= edge; ++j)
      for (index i = -1; i <= edge; ++i) {
        const direction towards{beyond(i), beyond(j), beyond(k)};
        const bool is_own = towards == direction{};
        index& next = ghosts[number_of(towards)];
        if (!is_own && next == 0) continue;
        for (std::size_t corner = 0; corner < 8; ++corner) {
          const auto [x, y, z] = corner_offsets[corner];
          if (std::min({i + x, j + y, k + z}) < 0 || std::max({i + x, j + y, k + z}) > edge) continue;
          const auto node = static_cast<std::size_t>(of.node(i + x, j + y, k + z));
          of.node_corners[found[node]++][node] =
              is_own ? static_cast<index>(corner) * of.corner_stride + of.element(i, j, k) : next++;
        }
      }
}

/// Lists the values of `spread` that domains beside each other along an axis exchange.
void connect_spreads(domain& of) {
  for_domains_around(of.at, [&](const direction& towards, int rank) {
    if (std::ranges::count(towards, 0) != 2) return;
    const auto axis =
        static_cast<std::size_t>(std::ranges::find_if(towards, std::identity{}) - towards.begin());
    double* const spread = of.spread[axis].data();
    double* next = spread + of.first_ghost(towards[axis] > 0 ? 1 : 0);
    of.of_spreads.begin(rank);
    for_border(of, towards,
               [&](index i, index j, index k) { of.of_spreads.add(spread + of.element(i, j, k), next++); });
  });
}

/// Sets positions and masses. Each element of the whole cube gives an eighth of its mass to each of its
/// nodes.
void place_nodes(domain& of) {
  const setting& at = of.at;
  const index all = at.parts * at.edge;
  for_block(at.edge + 1, [&](const std::array<index, 3>& where, std::size_t node) {
    std::array<index, 3> global;
    for (std::size_t axis = 0; axis < 3; ++axis) global[axis] = at.place[axis] * at.edge + where[axis];
    const auto [i, j, k] = global;
    of.position.x[node] = coordinate(at, i);
    of.position.y[node] = coordinate(at, j);
    of.position.z[node] = coordinate(at, k);
    double mass = 0;
    for (index z = std::max(k - 1, 0); z <= std::min(k, all - 1); ++z)
      for (index y = std::max(j - 1, 0); y <= std::min(j, all - 1); ++y)
        for (index x = std::max(i - 1, 0); x <= std::min(i, all - 1); ++x)
          mass += first_volume(at, x, y, z) / 8;
    of.node_mass[node] = mass;
    of.mobility.x[node] = i == 0 ? 0 : 1 / mass;
    of.mobility.y[node] = j == 0 ? 0 : 1 / mass;
    of.mobility.z[node] = k == 0 ? 0 : 1 / mass;
  });
}

/// All energy is in the element at the origin.
void light_blast(domain& of) {
  const setting& at = of.at;
  constexpr double energy_at_45 = 3.948746e7;
  const double scale = at.parts * at.edge / 45.0;
  const double energy = energy_at_45 * scale * scale * scale;
  if (at.rank() == 0) of.energy[0] = energy;
  of.clock.step = 0.5 * std::cbrt(first_volume(at, 0, 0, 0)) / std::sqrt(2 * energy);
}

}  // namespace

void domain::unmap::operator()(std::byte* memory) const {
  munmap(memory, bytes);
}

domain::domain(const setting& where)
    : at(where),
      elements(at.edge * at.edge * at.edge),
      nodes((at.edge + 1) * (at.edge + 1) * (at.edge + 1)),
      corner_stride((elements / 8) * 8 + 8),
      regions(make_regions(at.regions, elements, at.rank())) {
  const std::size_t bytes = bytes_of_domain(at);
  void* const mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  memory_ = {static_cast<std::byte*>(mapping), unmap{bytes}};
  madvise(mapping, bytes, MADV_HUGEPAGE);  // a request: small pages do as well

  cutter from(memory_.get());
  const auto of_nodes = static_cast<std::size_t>(nodes), of_elements = static_cast<std::size_t>(elements);
  const auto of_face = static_cast<std::size_t>(at.edge) * static_cast<std::size_t>(at.edge);
  for (vectors* each : {&position, &velocity, &force, &mobility}) *each = from.take_vectors(of_nodes);
  node_mass = from.take_values(of_nodes);
  for (values* each : {&energy, &pressure, &viscosity, &linear_viscosity, &quadratic_viscosity, &rest_volume,
                       &volume, &new_volume, &volume_change, &expansion, &length, &sound_speed, &new_energy,
                       &new_pressure, &new_viscosity, &extent[0], &extent[1], &extent[2]})
    *each = from.take_values(of_elements);
  for (values& each : spread) each = from.take_values(of_elements + 1 + 2 * of_face);
  corner_force = from.take_vectors(static_cast<std::size_t>(8 * corner_stride + 1 + count_ghosts(at)));
  for (indices& each : corners) each = from.take<index>(of_elements);
  for (indices& each : node_corners) each = from.take<index>(of_nodes);
  for (indices& each : before) each = from.take<index>(of_elements);
  for (indices& each : after) each = from.take<index>(of_elements);

  connect_elements(*this);
  connect_nodes(*this);
  connect_spreads(*this);
  place_nodes(*this);
  for_block(at.edge, [&](const std::array<index, 3>& own, std::size_t element) {
    rest_volume[element] = first_volume(at, at.place[0] * at.edge + own[0], at.place[1] * at.edge + own[1],
                                        at.place[2] * at.edge + own[2]);
  });
  std::ranges::fill(volume, 1.0);
  light_blast(*this);
}

}  // namespace teff::apps::lulesh
