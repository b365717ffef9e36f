#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "lulesh/arrays.hpp"
#include "lulesh/exchange.hpp"
#include "lulesh/regions.hpp"

namespace teff::apps::lulesh {

struct setting {
  index edge = 30;                ///< elements along an edge of the domain
  int parts = 1;                  ///< domains along an edge of the whole cube: parts^3 in all
  std::array<int, 3> place = {};  ///< of this domain among them
  region_setting regions = {};

  [[nodiscard]] int rank() const { return place[0] + parts * (place[1] + parts * place[2]); }
};

/// A vector for each of many nodes or corners, component by component.
struct vectors {
  values x, y, z;
};

/// The kernel limit_step() finds these bounds of the next step.
struct step_limits {
  static constexpr double none = 1e20;
  /// Sound needs this time to cross the element that it crosses fastest.
  double courant = none;
  /// No element's volume changes by more than a tenth in this time.
  double hydro = none;
  /// 0 after an element turned inside out or its artificial viscosity grew beyond all bounds.
  double valid = 1;

  /// The three, one after the other: the least of all domains' holds for the cube.
  [[nodiscard]] std::span<double, 3> all() { return std::span<double, 3>(&courant, 3); }
};
static_assert(sizeof(step_limits) == 3 * sizeof(double));

struct clock {
  double time = 0;
  double step = 0;  ///< duration of the step that runs
  int steps = 0;    ///< begun so far
};

/// A mesh of hexahedra, and all values that the kernels keep between them. The mesh is a block of a cube. A
/// blast starts at the cube's origin (the Sedov problem), and the mesh moves with the material. An element
/// has one value of each kind for all its inside. Kernels find neighbours by lists only: they do not know the
/// mesh to be a cube.
struct domain {
  explicit domain(const setting& at);

  setting at;
  index elements;
  index nodes;
  lulesh::clock clock;
  step_limits limits;

  // A value for each node.
  vectors position;
  vectors velocity;
  vectors force;
  values node_mass;
  vectors mobility;  ///< 1 / mass; 0 across a plane of symmetry, because a node never leaves that plane

  // A value for each element. The artificial viscosity widens a shock to some elements. It has two parts:
  // viscosity = sound_speed x linear_viscosity + quadratic_viscosity.
  values energy;
  values pressure;
  values viscosity;
  values linear_viscosity;
  values quadratic_viscosity;
  values rest_volume;  ///< at the beginning; this is also the mass, since the density was 1
  values volume;       ///< relative to rest_volume, before the material is updated
  values new_volume;   ///< relative to rest_volume, after the nodes moved
  values volume_change;
  values expansion;  ///< the volume's rate of growth, relative to the volume
  values length;     ///< of the shortest way through the element
  values sound_speed;
  // Results of the equation of state, which the next repetition overwrites.
  values new_energy;
  values new_pressure;
  values new_viscosity;
  // For each of the element's axes: its length, and the difference of the velocities at its ends.
  std::array<values, 3> extent;
  std::array<values, 3> spread;  ///< after the elements' values follow a 0 and the ghosts, see first_ghost()

  /// The force of each element on each of its corners: corner c of element e is at c x corner_stride + e.
  /// Then a 0 follows, and the ghosts: forces of other domains' elements on nodes that this domain has, too.
  vectors corner_force;
  index corner_stride;

  std::vector<region_run> regions;
  std::array<indices, 8> corners;  ///< the nodes of each element
  /// The places in corner_force of each node's corners, then of the 0. Corners follow in the order of the
  /// whole cube's elements. So a node's force has the same bits in each domain that has the node.
  std::array<indices, 8> node_corners;
  /// The places in `spread` of each element's neighbours, for each axis. Beyond a plane of symmetry, an
  /// element is its own neighbour. Beyond a free surface, its neighbour is the 0.
  std::array<indices, 3> before;
  std::array<indices, 3> after;

  exchange of_forces;   ///< between push_corners() and sum_forces()
  exchange of_spreads;  ///< between deform_elements() and limit_viscosity()

  [[nodiscard]] index node(index i, index j, index k) const {
    return i + (at.edge + 1) * (j + (at.edge + 1) * k);
  }
  [[nodiscard]] index element(index i, index j, index k) const { return i + at.edge * (j + at.edge * k); }
  /// The first of edge^2 places in spread[axis] for the values of another domain's elements. That domain lies
  /// before (side 0) or after (side 1) this one along the axis. Its elements keep their order.
  [[nodiscard]] index first_ghost(int side) const { return elements + 1 + side * at.edge * at.edge; }

 private:
  struct unmap {
    std::size_t bytes;
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, unmap> memory_;  ///< of all spans
};

}  // namespace teff::apps::lulesh
