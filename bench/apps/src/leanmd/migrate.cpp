#include <cmath>
#include <cstddef>

#include "leanmd/kernels.hpp"

namespace teff::apps::leanmd {
namespace {

/// How many cells a coordinate is beyond a cell: 0 within it.
int cells_beyond(double at, int cell, int size) {
  const double begin = cell * size;
  if (at < begin) return static_cast<int>(std::floor((at - begin) / size));
  return at > begin + size ? static_cast<int>(std::ceil((at - begin) / size)) - 1 : 0;
}

/// A coordinate, once it has left its cell, in a box whose opposite sides meet.
double within_box(double at, int size) {
  if (at < 0) return at + size;
  return at > size ? at - size : at;
}

triple within_box(const triple& at, const place& cells) {
  return {within_box(at.x, cells.x * cell_size.x), within_box(at.y, cells.y * cell_size.y),
          within_box(at.z, cells.z * cell_size.z)};
}

}  // namespace

void leave(problem& p, std::int64_t begin, std::int64_t end) {
  for (auto number = begin; number < end; ++number) {
    cell& from = p.cells[std::size_t(number)];
    const place here = p.space.at(static_cast<std::int32_t>(number));
    std::vector<migrant>& leaving = p.leaving[std::size_t(number)];
    leaving.clear();
    std::size_t stay = 0;
    for (std::size_t i = 0; i < from.position.size(); ++i) {
      const triple at = from.position[i];
      const place beyond{cells_beyond(at.x, here.x, cell_size.x), cells_beyond(at.y, here.y, cell_size.y),
                         cells_beyond(at.z, here.z, cell_size.z)};
      if (beyond == place{}) {
        from.position.set(stay, at);
        from.velocity.set(stay, from.velocity[i]);
        ++stay;
      } else {
        leaving.push_back(
            {p.space.number(p.space.moved(here, beyond)), within_box(at, p.space.cells), from.velocity[i]});
      }
    }
    from.position.resize(stay);
    from.velocity.resize(stay);
  }
}

void arrive(problem& p, std::int64_t begin, std::int64_t end) {
  for (auto number = begin; number < end; ++number) {
    cell& to = p.cells[std::size_t(number)];
    for (const std::int32_t from : to.around)
      for (const migrant& each : p.leaving[std::size_t(from)])
        if (each.to == number) {
          to.position.push_back(each.position);
          to.velocity.push_back(each.velocity);
        }
    enclose(to);
  }
}

}  // namespace teff::apps::leanmd
