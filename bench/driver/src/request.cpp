#include "teff/bench/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "teff/bench/failure.hpp"

namespace teff::bench {
namespace {

constexpr int most_of_process = 4096;   // more is a typing error
constexpr int most_of_ranks = 1 << 20;  // over all ranks, as record.schema.json has it

/// The most workers that a program takes. TEFF_RANKS is the number of ranks that start_ranks has started.
int most_workers() {
  const char* const ranks = std::getenv("TEFF_RANKS");
  return ranks != nullptr && std::atoi(ranks) > 1 ? most_of_ranks : most_of_process;
}

struct mode_flag {
  std::string_view name;
  request::mode what;
  std::string_view summary;
};

/// Where several are given, the last of these counts.
constexpr std::array mode_flags{
    mode_flag{"batch", request::mode::batch, "read the flags of a run from each line of standard input"},
    mode_flag{"cases", request::mode::cases, "print what this benchmark runs, a line of JSON each"},
    mode_flag{"identity", request::mode::identity, "print which system this is"},
    mode_flag{"help", request::mode::help, "show this text"},
};

/// A flag's name without its dashes; nothing for another word.
std::string_view name_of(std::string_view word) {
  if (word == "-h") return "help";
  if (!word.starts_with('-')) return {};
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  return word;
}

int read_workers(std::string_view text) {
  int value = 0;
  const int most = most_workers();
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || value < 1 || value > most)
    throw usage_error(fmt::format(
        "--workers: '{}' is not a whole number from 1 to {}; for example --workers 2", text, most));
  return value;
}

}  // namespace

request read_request(std::span<const std::string> words) {
  request asked;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view name = name_of(words[i]);
    const auto* const mode = std::ranges::find(mode_flags, name, &mode_flag::name);
    if (mode != mode_flags.end()) {
      asked.what = std::max(asked.what, mode->what);
    } else if (name.starts_with("workers=")) {
      asked.workers = read_workers(name.substr(name.find('=') + 1));
    } else if (name == "workers") {
      if (i + 1 == words.size()) throw usage_error("flag '--workers' needs a value; see --help");
      asked.workers = read_workers(words[++i]);
    } else {
      asked.run.push_back(words[i]);
    }
  }
  return asked;
}

std::string_view name(request::mode what) {
  const auto* const found = std::ranges::find(mode_flags, what, &mode_flag::what);
  return found == mode_flags.end() ? "run" : found->name;
}

std::string request_help() {
  std::string text = "Every benchmark's:\n";
  const auto add = [&](std::string_view flag, std::string_view summary) {
    text += fmt::format("  {:<27} {}\n", flag, summary);
  };
  add("--workers N", "workers [the cores that this process may use]");
  for (const mode_flag& each : mode_flags) add(fmt::format("--{}", each.name), each.summary);
  return text;
}

}  // namespace teff::bench
