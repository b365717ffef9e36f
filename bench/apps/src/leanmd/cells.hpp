#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace teff::apps::leanmd {

struct triple {
  double x = 0;
  double y = 0;
  double z = 0;
};

/// Three numbers for each particle of a list, such as coordinates. Each coordinate has its own array, so that
/// vector instructions take the particles one after the other.
struct triples {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> z;

  [[nodiscard]] std::size_t size() const { return x.size(); }
  [[nodiscard]] triple operator[](std::size_t index) const { return {x[index], y[index], z[index]}; }
  void set(std::size_t index, const triple& to) {
    x[index] = to.x;
    y[index] = to.y;
    z[index] = to.z;
  }
  void push_back(const triple& added) {
    x.push_back(added.x);
    y.push_back(added.y);
    z.push_back(added.z);
  }
  void resize(std::size_t count) {
    for (std::vector<double>* each : {&x, &y, &z}) each->resize(count);
  }
  /// So many zeros.
  void clear(std::size_t count) {
    for (std::vector<double>* each : {&x, &y, &z}) each->assign(count, 0);
  }
};

/// The place of a cell, or the number of cells along each side of the box.
struct place {
  int x = 0;
  int y = 0;
  int z = 0;
  friend auto operator<=>(const place&, const place&) = default;
};

inline constexpr place cell_size{15, 15, 30};  ///< in angstrom
inline constexpr place reach{2, 2, 1};         ///< cells each way that a cell meets

/// A box of cells. Opposite sides of the box meet.
struct box {
  place cells;

  [[nodiscard]] std::int32_t count() const { return cells.x * cells.y * cells.z; }
  [[nodiscard]] std::int32_t number(const place& of) const {
    return (of.x * cells.y + of.y) * cells.z + of.z;
  }
  [[nodiscard]] place at(std::int32_t number) const {
    return {number / (cells.y * cells.z), number / cells.z % cells.y, number % cells.z};
  }
  /// The place `by` cells further.
  [[nodiscard]] place moved(const place& from, const place& by) const {
    return {wrapped(from.x + by.x, cells.x), wrapped(from.y + by.y, cells.y),
            wrapped(from.z + by.z, cells.z)};
  }

 private:
  [[nodiscard]] static int wrapped(int at, int size) { return (at % size + size) % size; }
};

}  // namespace teff::apps::leanmd
