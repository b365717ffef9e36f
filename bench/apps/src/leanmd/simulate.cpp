#include "leanmd/simulate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "leanmd/kernels.hpp"

namespace teff::apps::leanmd {
namespace {

/// The names of what steps read and write. A cell stands for its particles, a meeting for its forces.
struct names {
  explicit names(problem& p)
      : cells(std::span(p.cells)), meetings(std::span(p.meetings)), leaving(std::span(p.leaving)) {}
  field cells;
  field meetings;
  field leaving;
};

/// Calls find(element) for each of some elements, and returns what the results have, all in one list.
template <class Element, class Find>
std::vector<std::int32_t> gathered(const std::vector<Element>& elements, range some, Find find) {
  std::vector<std::int32_t> all;
  for (std::int64_t i = some.begin; i < some.end; ++i) {
    const auto& found = find(elements[std::size_t(i)]);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

void interact_all(problem& p, const names& name, bool measures, way& by) {
  by.run({.name = "interact",
          .count = name.meetings.count,
          .accesses =
              [&p, &name](range some, access_list& all) {
                all = {out(name.meetings, some)};
                read_each(name.cells,
                          gathered(p.meetings, some,
                                   [](const meeting& each) { return std::array{each.first, each.second}; }),
                          all);
              },
          .body = [&p, measures](range some) { interact(p, measures, some.begin, some.end); }});
}

void advance_all(problem& p, const names& name, bool measures, way& by) {
  by.run({.name = "advance",
          .count = name.cells.count,
          .accesses =
              [&p, &name](range some, access_list& all) {
                all = {inout(name.cells, some)};
                read_each(name.meetings, gathered(p.cells, some, std::mem_fn(&cell::meetings)), all);
              },
          .body = [&p, measures](range some) { advance(p, measures, some.begin, some.end); }});
}

void migrate_all(problem& p, const names& name, way& by) {
  by.run({.name = "leave",
          .count = name.cells.count,
          .accesses = [&name](range some,
                              access_list& all) { all = {inout(name.cells, some), out(name.leaving, some)}; },
          .body = [&p](range some) { leave(p, some.begin, some.end); }});
  by.run({.name = "arrive",
          .count = name.cells.count,
          .accesses =
              [&p, &name](range some, access_list& all) {
                all = {inout(name.cells, some)};
                read_each(name.leaving, gathered(p.cells, some, std::mem_fn(&cell::around)), all);
              },
          .body = [&p](range some) { arrive(p, some.begin, some.end); }});
}

}  // namespace

outcome simulate(problem& p, int steps, way& by) {
  const names name(p);
  outcome found;
  const auto measure = [&](energies& to) {
    by.run({.name = "measure",
            .accesses = [&name](range, access_list& all) { all = {in(name.meetings), in(name.cells)}; },
            .body = [&p, &to](range) { to = measured(p); }});
  };
  for (int step = 1; step <= steps; ++step) {
    const bool measures = step == 1 || step == steps;
    interact_all(p, name, measures, by);
    advance_all(p, name, measures, by);
    if (step == 1) measure(found.first);
    if (step == steps) measure(found.last);
    if (step % steps_to_migration == 0) migrate_all(p, name, by);
  }
  by.wait();
  return found;
}

void migrate(problem& p, way& by) {
  const names name(p);
  migrate_all(p, name, by);
  by.wait();
}

}  // namespace teff::apps::leanmd
