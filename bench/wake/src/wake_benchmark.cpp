#include "wake_benchmark.hpp"

#include "teff/wake/work.hpp"

namespace teff::wake {

std::string wake_benchmark::help() const {
  return work_help();
}

std::vector<bench::benchmark_case> wake_benchmark::cases() const {
  return {{.name = "1ms", .title = "after 1 ms without work", .flags = "-idle 0.001 -wakes 100"},
          {.name = "100ms", .title = "after 100 ms without work", .flags = "-idle 0.1 -wakes 8"}};
}

void wake_benchmark::check(const bench::flags& of_run, bool /*in_batch*/) const {
  static_cast<void>(parse_work(of_run));
}

}  // namespace teff::wake
