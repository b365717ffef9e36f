#include "teff/bench/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "teff/bench/failure.hpp"

namespace teff::bench {

namespace {

/// Why `who` is not measured: it has fewer workers than were asked for. Empty if it has all of them.
std::string shortfall(const identity& who, const request& asked) {
  if (!asked.workers || who.workers >= *asked.workers) return {};
  return fmt::format(
      "{}/{} has {} of {} workers: {} may give it fewer; remove the limit, or say --workers {}", who.system,
      who.variant, who.workers, *asked.workers,
      who.limits.empty() ? "its environment or this machine" : who.limits, std::max(who.workers, 1));
}

}  // namespace

void check(const benchmark& kind, const request& asked) {
  if (asked.what == request::mode::run) {
    kind.check(asked.run, false);
  } else if (asked.what != request::mode::help && !asked.run.empty()) {
    throw usage_error(fmt::format("'{}' belongs to a run, and --{} runs nothing by itself; see --help",
                                  asked.run.front(), name(asked.what)));
  }
}

bool answered_without_system(const benchmark& kind, const request& asked) {
  if (asked.what == request::mode::help) {
    fmt::print("{}\n{}", kind.help(), request_help());
  } else if (asked.what == request::mode::cases) {
    fmt::print("{}", cases_json(kind));
  } else {
    return false;
  }
  std::fflush(stdout);  // the caller's language has another buffer
  return true;
}

session::session(const benchmark& kind, request asked, identity who, bool speaks,
                 std::function<bool(std::string&)> read_line)
    : kind_(kind),
      asked_(std::move(asked)),
      who_(std::move(who)),
      speaks_(speaks),
      read_line_(std::move(read_line)) {}

std::optional<flags> session::next() {
  const bool runs = asked_.what == request::mode::batch || asked_.what == request::mode::run;
  if (const std::string reason = shortfall(who_, asked_); runs && who_.workers > 0 && !reason.empty()) {
    fail(reason);
    return {};
  }
  if (asked_.what == request::mode::batch) return next_of_batch();
  if (std::exchange(over_, true)) return {};
  if (asked_.what == request::mode::identity) {
    print(identity_json(who_, kind_.further_identity()));
    return {};
  }
  if (const std::string text = kind_.introduction(asked_.run); !text.empty()) print(text);
  return asked_.run;
}

std::optional<flags> session::next_of_batch() {
  std::string line;
  while (read_line_(line)) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      return read_batch_line(line);
    } catch (const usage_error& wrong) {
      refuse(wrong.what());
    }
  }
  return {};
}

flags session::read_batch_line(const std::string& line) const {
  request asked = read_request(words_of(line));
  if (asked.what != request::mode::run || asked.workers)
    throw usage_error(
        "a line of a batch describes a run: --workers, --batch, --cases, --identity and --help belong on the "
        "command line");
  kind_.check(asked.run, true);
  return std::move(asked.run);
}

void session::answer(const bench::answer& run) {
  const std::string reason = run.said.error.empty() ? shortfall(run.said.who, asked_) : "";
  if (!reason.empty()) return refuse(reason);
  const bool one = asked_.what != request::mode::batch;
  print(one && !run.text.empty() ? run.text : to_json(run.said, kind_.name()));
  // A batch goes on: its records tell the faults.
  if (one && !run.said.error.empty()) fail(run.said.error);
}

void session::refuse(std::string_view error) {
  if (asked_.what == request::mode::batch) return print(error_json(who_, kind_.name(), error));
  fail(error);
}

void session::fail(std::string_view error) {
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
