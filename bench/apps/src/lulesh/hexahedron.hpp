#pragma once

#include <array>

#include "lulesh/pack.hpp"

namespace teff::apps::lulesh {

template <class real>
struct vec {
  real x, y, z;

  friend vec operator+(const vec& a, const vec& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend vec operator-(const vec& a, const vec& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend vec operator*(const real& factor, const vec& a) {
    return {factor * a.x, factor * a.y, factor * a.z};
  }
};

/// factor x a + b.
template <class real>
inline vec<real> fused(real factor, const vec<real>& a, const vec<real>& b) {
  return {fused(factor, a.x, b.x), fused(factor, a.y, b.y), fused(factor, a.z, b.z)};
}

template <class real>
inline real dot(const vec<real>& a, const vec<real>& b) {
  return fused(a.x, b.x, fused(a.y, b.y, a.z * b.z));
}

template <class real>
inline vec<real> cross(const vec<real>& a, const vec<real>& b) {
  return {fused(-a.z, b.y, a.y * b.z), fused(-a.x, b.z, a.z * b.x), fused(-a.y, b.x, a.x * b.y)};
}

/// A vector for each corner of an element: its position, its velocity, the force on it. Corners 0 to 3 go
/// around the lower face, 4 to 7 lie above them. The element's first axis leads from 0 to 1, its second from
/// 0 to 3, its third from 0 to 4.
template <class real>
using hexahedron = std::array<vec<real>, 8>;

/// The corners of each face. The product (3 - 1) x (2 - 0) of its diagonals points out of the element.
inline constexpr std::array<std::array<int, 4>, 6> faces{
    {{0, 1, 2, 3}, {0, 4, 5, 1}, {1, 5, 6, 2}, {2, 6, 7, 3}, {3, 7, 4, 0}, {4, 7, 6, 5}}};

/// Twice the area of a face, as the product of its diagonals.
template <class real>
inline vec<real> twice_area(const hexahedron<real>& at, const std::array<int, 4>& face) {
  return cross(at[face[3]] - at[face[1]], at[face[2]] - at[face[0]]);
}

template <class real>
inline real volume(const hexahedron<real>& at) {
  const auto triple = [](const vec<real>& a, const vec<real>& b, const vec<real>& c) {
    return dot(a, cross(b, c));
  };
  const auto edge = [&at](int to, int from) { return at[to] - at[from]; };
  return (triple(edge(3, 1) + edge(7, 2), edge(6, 3), edge(2, 0)) +
          triple(edge(4, 3) + edge(5, 7), edge(6, 4), edge(7, 0)) +
          triple(edge(1, 4) + edge(2, 5), edge(6, 1), edge(5, 0))) *
         (1.0 / 12.0);
}

/// For each corner, the sum of a quarter of the area vectors of its three faces.
template <class real>
inline hexahedron<real> areas_at_corners(const hexahedron<real>& at) {
  hexahedron<real> areas{};
  unrolled<6>([&](auto number) {
    constexpr auto face = faces[number];
    const vec<real> area = constant<real>(0.125) * twice_area(at, face);
    unrolled<4>([&](auto place) { areas[face[place]] = areas[face[place]] + area; });
  });
  return areas;
}

/// How the volume changes as each corner moves. The area vector of a bilinear face is an affine function on
/// it. Its mean, weighted as a corner moves the face, is two thirds of the mean area vector and a third of
/// the corner's own.
template <class real>
inline hexahedron<real> volume_gradient(const hexahedron<real>& at, const hexahedron<real>& areas) {
  // The corners at the other ends of each corner's edges. Their triangle has the area of the corner's three
  // faces.
  constexpr std::array<std::array<int, 3>, 8> ends{
      {{1, 4, 3}, {2, 5, 0}, {3, 6, 1}, {0, 7, 2}, {7, 0, 5}, {4, 1, 6}, {5, 2, 7}, {6, 3, 4}}};
  hexahedron<real> gradient;
  unrolled<8>([&](auto corner) {
    constexpr auto end = ends[corner];
    const vec<real> triangle = cross(at[end[1]] - at[end[0]], at[end[2]] - at[end[0]]);
    gradient[corner] = fused(constant<real>(2.0 / 3.0), areas[corner], constant<real>(1.0 / 12.0) * triangle);
  });
  return gradient;
}

/// How `at` changes along the element's three axes, from face to face, summed over the four edges of each.
template <class real>
inline std::array<vec<real>, 3> along_axes(const hexahedron<real>& at) {
  const vec<real> a = at[6] - at[0], b = at[5] - at[3], c = at[7] - at[1], d = at[4] - at[2];
  return {(a + b) - (c + d), (a - b) + (c - d), (a + b) + (c + d)};
}

/// The four ways in which `at` varies without changing along the axes on the mean: the hourglass modes.
template <class real>
inline std::array<vec<real>, 4> along_hourglasses(const hexahedron<real>& at) {
  const vec<real> a = at[0] + at[6], b = at[1] + at[7], c = at[2] + at[4], d = at[3] + at[5];
  return {(a + b) - (c + d), (a - b) - (c - d), (a - b) + (c - d),
          ((at[6] - at[0]) - (at[7] - at[1])) + ((at[4] - at[2]) - (at[5] - at[3]))};
}

/// The values at the corners that sum up the modes, each times its amplitude.
template <class real>
inline hexahedron<real> at_corners(const std::array<vec<real>, 4>& modes) {
  const auto& [first, second, third, odd] = modes;
  const vec<real> a = first + second + third, b = first - second - third;
  const vec<real> c = third - first - second, d = second - first - third;
  return {a - odd, b + odd, c - odd, d + odd, c + odd, d - odd, a + odd, b - odd};
}

}  // namespace teff::apps::lulesh
