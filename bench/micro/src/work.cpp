#include "teff/micro/work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "teff/bench/failure.hpp"
#include "teff/bench/flags.hpp"

namespace teff::micro {
namespace {

const std::map<std::string, shape> shapes{{"tasks", shape::tasks},
                                          {"chunks", shape::chunks},
                                          {"taskloop", shape::taskloop},
                                          {"recursion", shape::recursion},
                                          {"regions", shape::regions}};

struct flag_reader {
  bench::flag_parser flags{"Runs a grid of tasks, each of which needs some of the column before, or none."};
  work asked;
  double spin_seconds = 0;

  flag_reader() {
    flags
        .add("--shape", asked.made_by, "what makes the tasks: tasks, chunks, taskloop, recursion, regions",
             shapes)
        .takes("NAME");
    flags.add("--rows", asked.rows, "tasks of a column; 0: as many as workers")
        .within(0, 1 << 20)
        .takes("COUNT");
    flags.add("--columns", asked.columns, "columns of the grid").within(1, 1 << 24).takes("COUNT");
    flags.add("--dependences", asked.dependences, "of a task, on tasks of the column before")
        .within(0, most_dependences)
        .takes("COUNT");
    flags.add("--spin", spin_seconds, "seconds that a task spins").within(0.0, 1.0).takes("SECONDS");
    flags.add_switch("--inserted", asked.is_inserted, "start the clock when all tasks have been made");
  }
};

void check(const work& asked) {
  if (asked.dependences > asked.rows)
    throw bench::usage_error(
        fmt::format("--dependences {}: a column has {} tasks (--rows)", asked.dependences, asked.rows));
  if (asked.is_inserted && asked.dependences > 0)
    throw bench::usage_error("--inserted is for tasks without dependences: leave out --dependences");
  if (asked.made_by != shape::tasks && (asked.is_inserted || asked.dependences > 0))
    throw bench::usage_error(fmt::format(
        "--shape {}: its tasks have no --dependences, and are not --inserted", name(asked.made_by)));
}

}  // namespace

std::string_view name(shape of) {
  return std::ranges::find(shapes, of, &std::pair<const std::string, shape>::second)->first;
}

work parse_work(std::span<const std::string> flags) {
  flag_reader reader;
  reader.flags.parse(flags);
  work asked = reader.asked;
  asked.spin =
      std::chrono::round<std::chrono::nanoseconds>(std::chrono::duration<double>(reader.spin_seconds));
  check(asked);
  return asked;
}

std::string work_help() {
  return flag_reader().flags.help();
}

}  // namespace teff::micro
