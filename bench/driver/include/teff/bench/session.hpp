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

/// Throws usage_error if a request can't be met: the flags of a run are wrong, or there are such flags beside
/// one that runs nothing.
void check(const benchmark& kind, const request& asked);

/// Answers --help and --cases, which need no system. Returns false if the request asks for something else.
[[nodiscard]] bool answered_without_system(const benchmark& kind, const request& asked);

/// A program's requests and answers. It gives the flags of one run after the other, and prints the answers:
/// `while (auto run = next()) answer(...)`. It answers --identity by itself.
class session {
 public:
  /// The kind must outlive the session. `speaks`: whether this process prints (rank 0). `read_line` reads a
  /// line of the batch, and returns false at its end.
  session(const benchmark& kind, request asked, identity who, bool speaks,
          std::function<bool(std::string&)> read_line);

  /// The flags of the next run, which have been checked; nothing if there is none. It answers wrong lines of
  /// a batch itself.
  [[nodiscard]] std::optional<flags> next();
  /// Prints the answer of a run.
  void answer(const bench::answer& run);
  /// Prints that the run could not begin, and why.
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
