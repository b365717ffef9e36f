#pragma once

#include "lulesh/domain.hpp"

namespace teff::apps::lulesh {

// The kernels of a step, in order. A program may cut each range into any chunks and run the chunks at the
// same time, because a chunk writes values of its own elements or nodes only. No result depends on the cuts.
// A chunk begins after the chunks of the kernel before that hold its elements or nodes and their neighbours
// (see neighbours.hpp). These dependences suffice: a step may begin before the step before has ended
// everywhere. Several domains exchange values within a step: see domain::of_forces and domain::of_spreads.
// The least of all domains' limits holds for the next step.

/// Elements: the force of pressure, viscosity and hourglass resistance on each corner.
/// Reads the position and velocity of the elements' nodes; does not need the duration of the step.
void push_corners(domain& at, index begin, index end);

/// Nodes: sums the forces of all corners at a node, in the order of node_corners.
void sum_forces(domain& at, index begin, index end);

/// Nodes: moves them for the duration of the step.
void move_nodes(domain& at, index begin, index end);

/// Elements: new volume, expansion, length, and spread and extent along the axes, all from the elements'
/// nodes.
void deform_elements(domain& at, index begin, index end);

/// Elements: the parts of the artificial viscosity. Reads `spread` of the neighbours.
void limit_viscosity(domain& at, index begin, index end);

/// Elements: equation of state: new energy, pressure, viscosity, sound speed; the new volume becomes the
/// volume.
void update_material(domain& at, index begin, index end);

/// Elements: lowers the domain's limits for the next step.
void limit_step(domain& at, index begin, index end);

}  // namespace teff::apps::lulesh
