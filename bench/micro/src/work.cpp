#include "teff/micro/work.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
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
  CLI::App app{"Runs a grid of tasks, each of which needs some of the column before, or none."};
  work asked;
  std::string made_by = "tasks";
  double spin_seconds = 0;

  flag_reader() {
    app.name("");
    app.set_help_flag();
    app.add_option("--shape", made_by, "what makes the tasks: tasks, chunks, taskloop, recursion, regions")
        ->check(CLI::IsMember(shapes))
        ->option_text("NAME");
    app.add_option("--rows", asked.rows, "tasks of a column; 0: as many as workers")
        ->check(CLI::Range(0, 1 << 20))
        ->option_text("COUNT");
    app.add_option("--columns", asked.columns, "columns of the grid")
        ->check(CLI::Range(1, 1 << 24))
        ->option_text("COUNT");
    app.add_option("--dependences", asked.dependences, "of a task, on tasks of the column before")
        ->check(CLI::Range(0, most_dependences))
        ->option_text("COUNT");
    app.add_option("--spin", spin_seconds, "seconds that a task spins")
        ->check(CLI::Range(0.0, 1.0))
        ->option_text("SECONDS");
    app.add_flag("--inserted", asked.is_inserted, "start the clock when all tasks have been made");
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
  bench::read_flags(reader.app, bench::rewritten(reader.app, flags));
  work asked = reader.asked;
  asked.made_by = shapes.at(reader.made_by);
  asked.spin =
      std::chrono::round<std::chrono::nanoseconds>(std::chrono::duration<double>(reader.spin_seconds));
  check(asked);
  return asked;
}

std::string work_help() {
  return flag_reader().app.help();
}

}  // namespace teff::micro
