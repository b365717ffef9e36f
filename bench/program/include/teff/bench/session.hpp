#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "teff/bench/benchmark.hpp"
#include "teff/bench/request.hpp"

namespace teff::bench {

/// Exit codes of a bench program.
enum exit_code : int { done = 0, failed = 1, bad_input = 2 };

/// Throws usage_error where a request can't be met: the flags of a run are wrong, or stand beside a flag that
/// runs nothing.
void check(const benchmark& kind, const request& asked);

/// Answers --help and --cases, for which no system is needed. False where something else was asked for.
[[nodiscard]] bool answered_without_system(const benchmark& kind, const request& asked);

/// What a program was asked for, as the flags of one run after the other, and the answers to print:
/// `while (auto run = next()) answer(...)`. It answers --identity by itself.
class session {
 public:
  /// The kind has to outlive it. `speaks`: whether this process prints (rank 0). `read_line` gets a line of
  /// the batch, false at its end.
  session(const benchmark& kind, request asked, identity who, bool speaks,
          std::function<bool(std::string&)> read_line);

  /// The flags of what is to be run next, which are right, or nothing. A wrong line of a batch is answered
  /// here.
  [[nodiscard]] std::optional<flags> next();
  /// Prints what came of it.
  void answer(const bench::answer& run);
  /// Prints that it could not be run at all.
  void refuse(std::string_view error);

  [[nodiscard]] exit_code code() const { return code_; }

 private:
  [[nodiscard]] std::optional<flags> next_of_batch();
  [[nodiscard]] flags read_batch_line(const std::string& line) const;
  void print(const std::string& text) const;
  void fail(std::string_view error);

  const benchmark& kind_;
  request asked_;
  identity who_;
  bool speaks_;
  std::function<bool(std::string&)> read_line_;
  bool over_ = false;
  exit_code code_ = done;
};

}  // namespace teff::bench
