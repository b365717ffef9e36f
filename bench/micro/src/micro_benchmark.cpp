#include "micro_benchmark.hpp"

#include <fmt/format.h>

#include <utility>

#include "teff/micro/work.hpp"

namespace teff::micro {
namespace {

/// A length of tasks, and columns of 32 of them that take some tens of milliseconds.
struct length {
  int microseconds;
  int columns;
};
constexpr length lengths[] = {{1, 1000}, {10, 150}, {100, 25}};
constexpr int few_columns = 2000;  // of empty tasks that have dependences

std::string name_of(int dependences) {
  return dependences == 0 ? "independent" : fmt::format("dependences-{}", dependences);
}
std::string title_of(int dependences) {
  if (dependences == 0) return "tasks without dependences";
  return fmt::format("tasks with {} dependence{}", dependences, dependences == 1 ? "" : "s");
}

}  // namespace

std::string micro_benchmark::help() const {
  return work_help();
}

std::vector<bench::benchmark_case> micro_benchmark::cases() const {
  std::vector<bench::benchmark_case> all;
  const auto add = [&all](std::string name, std::string title, std::string flags, const char* group) {
    all.push_back(
        {.name = std::move(name), .title = std::move(title), .flags = std::move(flags), .group = group});
  };
  add("independent", "empty tasks without dependences", "-columns 5000", "empty-tasks");
  add("inserted", "the same, made before the clock starts", "-columns 5000 -inserted", "empty-tasks");
  for (const int dependences : {1, 2, 5, 10})
    add(name_of(dependences), "empty " + title_of(dependences),
        fmt::format("-columns {} -dependences {}", few_columns, dependences), "empty-tasks");
  for (const int dependences : {0, 1, 10})
    for (const auto& [microseconds, columns] : lengths)
      add(fmt::format("{}-{}us", name_of(dependences), microseconds),
          fmt::format("{} us {}", microseconds, title_of(dependences)),
          fmt::format("-columns {} -dependences {} -spin {:g}", columns, dependences, microseconds * 1e-6),
          "spinning-tasks");
  return all;
}

void micro_benchmark::check(const bench::flags& of_run, bool /*in_batch*/) const {
  static_cast<void>(parse_work(of_run));
}

}  // namespace teff::micro
