#pragma once

#include "lulesh/domain.hpp"
#include "lulesh/hexahedron.hpp"
#include "lulesh/pack.hpp"

namespace teff::apps::lulesh {

template <class real>
inline vec<real> load(const vectors& from, index first) {
  return {load<real>(from.x, first), load<real>(from.y, first), load<real>(from.z, first)};
}

template <class real>
inline void store(const vectors& to, index first, const vec<real>& all) {
  store(to.x, first, all.x);
  store(to.y, first, all.y);
  store(to.z, first, all.z);
}

template <class real>
inline vec<real> gather(const vectors& from, const indices& at, index first) {
  return {gather<real>(from.x, at, first), gather<real>(from.y, at, first), gather<real>(from.z, at, first)};
}

/// A vector of the nodes at an element's corners.
template <class real>
inline hexahedron<real> gather_corners(const domain& at, const vectors& of_nodes, index element) {
  hexahedron<real> all;
  unrolled<8>([&](auto corner) { all[corner] = gather<real>(of_nodes, at.corners[corner], element); });
  return all;
}

}  // namespace teff::apps::lulesh
