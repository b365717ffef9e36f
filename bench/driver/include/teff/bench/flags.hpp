#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace teff::bench {

/// The flags of a command line, or of a line of a batch, one word each.
using flags = std::vector<std::string>;

/// The words of a line, which blanks separate.
[[nodiscard]] flags words_of(const std::string& line);

/// Rewrites flags as CLI11 takes them: with two dashes where one was given, and values attached, so that a
/// value may begin with a dash. Throws usage_error if the app has no such flag.
[[nodiscard]] flags rewritten(const CLI::App& app, std::span<const std::string> given);

/// Has the app read rewritten flags. Throws usage_error.
void read_flags(CLI::App& app, flags rewritten);

/// " (did you mean -width?)", with the dash in `before`: the nearest known word, if less than half of its
/// letters differ; else nothing.
[[nodiscard]] std::string did_you_mean(std::string_view before, std::string_view word,
                                       std::span<const std::string> known);

}  // namespace teff::bench
