#include "session.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace teff::bench {

session::session(command asked, identity who, bool speaks, std::function<bool(std::string&)> read_line)
    : asked_(std::move(asked)), who_(std::move(who)), speaks_(speaks), read_line_(std::move(read_line)) {}

std::optional<configuration> session::next() {
  if (asked_.what == command::mode::batch) return next_of_batch();
  if (std::exchange(over_, true)) return {};
  if (asked_.what == command::mode::identity) {
    print(to_json(who_));
    return {};
  }
  if (asked_.work.verbosity > 0) print(describe(asked_.work));
  return asked_.work;
}

std::optional<configuration> session::next_of_batch() {
  std::string line;
  while (read_line_(line)) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      return parse_configuration(line);
    } catch (const usage_error& wrong) {
      refuse(wrong.what());
    }
  }
  return {};
}

void session::answer(const record& run) {
  const bool one = asked_.what == command::mode::run;
  print(one && asked_.report ? to_report(run) : to_json(run));
  if (!one || run.error.empty() || !speaks_) return;  // a batch goes on, its records say what was wrong
  fmt::print(stderr, "error: {}\n", run.error);
  code_ = failed;
}

void session::refuse(std::string_view error) {
  if (asked_.what == command::mode::batch) return print(error_json(who_, error));
  if (!speaks_) return;
  fmt::print(stderr, "error: {}\n", error);
  code_ = failed;
}

void session::print(const std::string& text) const {
  if (!speaks_) return;
  std::fputs(text.c_str(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

}  // namespace teff::bench
