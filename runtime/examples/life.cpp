// Conway's game of life on a torus: a loop over two dimensions for each generation, until it dies or stands
// still.
#include <teff/teff.hpp>

#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

constexpr int rows = 96;
constexpr int columns = 128;
using board = std::vector<std::uint8_t>;

int at(int row, int column) {
  return (row + rows) % rows * columns + (column + columns) % columns;
}

std::uint8_t next(const board& now, int row, int column) {
  int neighbours = 0;
  for (int down = -1; down <= 1; ++down) {
    for (int right = -1; right <= 1; ++right) neighbours += now[at(row + down, column + right)];
  }
  neighbours -= now[at(row, column)];
  return neighbours == 3 || (neighbours == 2 && now[at(row, column)] != 0);
}

}  // namespace

int main() {
  board now(rows * columns);
  board then(now.size());
  // A glider: after 4 generations it stands one row lower and one column further to the right.
  for (const auto& [row, column] : {std::pair(0, 1), {1, 2}, {2, 0}, {2, 1}, {2, 2}})
    now[at(row, column)] = 1;

  teff::runtime rt;
  const bool flies = rt.run([&] {
    for (int generation = 0; generation < 4 * 50; ++generation) {
      teff::parallel_for(teff::grid{rows, columns},
                         [&](int row, int column) { then[at(row, column)] = next(now, row, column); });
      std::swap(now, then);
    }
    return teff::parallel_reduce(now, 0) == 5 && now[at(50, 51)] == 1 && now[at(52, 52)] == 1;
  });

  std::puts(flies ? "the glider has flown 50 cells" : "the glider was lost");
  return flies ? 0 : 1;
}
