#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "teff/graphs/adapter.hpp"
#include "teff/graphs/configuration.hpp"
#include "teff/graphs/record.hpp"

namespace teff::bench {

/// What a bench program was asked for, as the configurations to run, one after the other, and the answers to
/// print: `while (auto work = next()) answer(...)`. It answers --identity by itself.
class session {
 public:
  /// Exit codes of a bench program.
  enum exit_code : int { done = 0, failed = 1, bad_input = 2 };

  /// `speaks`: whether this process prints (rank 0). `read_line` gets a line of the batch, false at its end.
  session(command asked, identity who, bool speaks, std::function<bool(std::string&)> read_line);

  /// What is to be run next, or nothing. A wrong line of a batch is answered here.
  [[nodiscard]] std::optional<configuration> next();
  /// Prints the record of what next() gave, or its report where that was asked for.
  void answer(const record& run);
  /// Prints that it could not be run at all.
  void refuse(std::string_view error);

  [[nodiscard]] exit_code code() const { return code_; }

 private:
  [[nodiscard]] std::optional<configuration> next_of_batch();
  void print(const std::string& text) const;

  command asked_;
  identity who_;
  bool speaks_;
  std::function<bool(std::string&)> read_line_;
  bool over_ = false;
  exit_code code_ = done;
};

}  // namespace teff::bench
