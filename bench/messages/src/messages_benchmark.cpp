#include "messages_benchmark.hpp"

#include <fmt/format.h>

#include <utility>

#include "teff/messages/work.hpp"

namespace teff::messages {
namespace {

struct size {
  const char* name;
  std::int64_t bytes;
  int turns;  ///< some tens of milliseconds of them
};
constexpr size sizes[] = {{"8B", 8, 20'000},       {"64B", 64, 20'000},     {"512B", 512, 20'000},
                          {"4KiB", 4096, 10'000},  {"32KiB", 32'768, 3000}, {"256KiB", 262'144, 400},
                          {"2MiB", 2'097'152, 40}, {"16MiB", 16'777'216, 6}};
/// Messages that are sent before an answer, and how often.
constexpr std::pair<int, int> windows[] = {{1, 20'000}, {8, 8000}, {64, 2000}, {1024, 150}, {20'000, 3}};

bench::benchmark_case on_two_ranks(std::string name, std::string title, std::string flags,
                                   std::string group) {
  return {.name = std::move(name),
          .title = std::move(title),
          .flags = std::move(flags),
          .group = std::move(group),
          .workers = "2"};
}

}  // namespace

std::string messages_benchmark::help() const {
  return work_help();
}

std::vector<bench::benchmark_case> messages_benchmark::cases() const {
  std::vector<bench::benchmark_case> all;
  for (const auto& [name, bytes, turns] : sizes) {
    all.push_back(on_two_ranks(name, fmt::format("a message of {}, one way", name),
                               fmt::format("-pattern one_way -bytes {} -turns {}", bytes, turns),
                               "bandwidth"));
    all.back().own["bytes"] = bytes;
  }
  for (const auto& [window, turns] : windows)
    all.push_back(on_two_ranks(fmt::format("window-{}", window),
                               fmt::format("a message of 8 B, {} before an answer", window),
                               fmt::format("-pattern burst -window {} -turns {}", window, turns), "windows"));
  all.push_back(
      on_two_ranks("chain", "a dependence on the other rank's task", "-pattern chain -turns 20000", ""));
  all.push_back(
      on_two_ranks("idle", "CPU time of two ranks that wait, in 10 s", "-pattern idle -idle 2", ""));
  return all;
}

void messages_benchmark::check(const bench::flags& of_run, bool /*in_batch*/) const {
  static_cast<void>(parse_work(of_run));
}

}  // namespace teff::messages
