#include "micro_benchmark.hpp"

#include <fmt/format.h>

#include <utility>

#include "teff/micro/work.hpp"

namespace teff::micro {
namespace {

/// A length of tasks, and columns of 32 of them that take some tens of milliseconds.
struct length {
  double microseconds;
  int columns;
  bool by_default;
};
constexpr length lengths[] = {
    {0.3, 2000, false}, {1, 1000, true}, {3, 400, false}, {10, 150, true}, {100, 25, true}};
constexpr int few_columns = 2000;  // of empty tasks that have dependences

/// Tasks that spin, by the name of their cases. `bodies` is the kind of a user's bodies that are made so.
struct spinning {
  const char* name;
  const char* title;
  const char* flags;
  const char* bodies;
  bool by_default;
  int columns = 1;  // in the place of one
};
constexpr spinning spinning_tasks[] = {
    {"independent", "tasks without dependences", "-dependences 0", "task", true},
    {"dependences-1", "tasks with 1 dependence", "-dependences 1", "dependent", true},
    {"dependences-10", "tasks with 10 dependences", "-dependences 10", "", true},
    {"recursion", "tasks, each of which makes two", "-shape recursion", "recursion", false},
    {"taskloop", "tasks of a loop", "-shape taskloop", "taskloop", false},
    {"chunks", "iterations that free threads take", "-shape chunks", "chunk", false},
    {"regions", "parallel loops with an iteration a thread", "-shape regions -rows 0", "region", false, 32},
};

}  // namespace

std::string micro_benchmark::help() const {
  return work_help();
}

std::vector<bench::benchmark_case> micro_benchmark::cases() const {
  std::vector<bench::benchmark_case> all;
  const auto add = [&all](std::string name, std::string title, std::string flags) {
    all.push_back({.name = std::move(name),
                   .title = std::move(title),
                   .flags = std::move(flags),
                   .group = "empty-tasks"});
  };
  add("independent", "empty tasks without dependences", "-columns 5000");
  add("inserted", "the same, made before the clock starts", "-columns 5000 -inserted");
  for (const int dependences : {1, 2, 5, 10})
    add(fmt::format("dependences-{}", dependences),
        fmt::format("empty tasks with {} dependence{}", dependences, dependences == 1 ? "" : "s"),
        fmt::format("-columns {} -dependences {}", few_columns, dependences));
  for (const spinning& each : spinning_tasks)
    for (const auto& [microseconds, columns, by_default] : lengths)
      all.push_back({.name = fmt::format("{}-{:g}us", each.name, microseconds),
                     .title = fmt::format("{:g} us {}", microseconds, each.title),
                     .flags = fmt::format("-columns {} {} -spin {:g}", columns * each.columns, each.flags,
                                          microseconds * 1e-6),
                     .by_default = each.by_default && by_default,
                     .group = each.by_default ? "spinning-tasks" : each.bodies,
                     .own = {{"bodies", each.bodies}}});
  return all;
}

void micro_benchmark::check(const bench::flags& of_run, bool /*in_batch*/) const {
  static_cast<void>(parse_work(of_run));
}

}  // namespace teff::micro
