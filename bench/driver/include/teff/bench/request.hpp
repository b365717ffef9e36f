#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "teff/bench/flags.hpp"

namespace teff::bench {

/// The request of a command line to a program of any kind.
struct request {
  enum class mode : std::uint8_t { run, batch, cases, identity, help };
  mode what = mode::run;
  std::optional<int> workers;  ///< default: the cores that this process may use
  flags run;                   ///< the other flags of the run, which the kind of benchmark reads
};

/// Reads a command line, without the program's name. Throws usage_error.
[[nodiscard]] request read_request(std::span<const std::string> words);

/// The flag that asks for a mode, without its dashes.
[[nodiscard]] std::string_view name(request::mode what);
/// The flags that read_request knows, for people.
[[nodiscard]] std::string request_help();

}  // namespace teff::bench
