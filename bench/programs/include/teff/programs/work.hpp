#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "teff/programs/runner.hpp"

namespace teff::programs {

/// Reads the flags of a run, with one dash or two. Throws bench::usage_error.
[[nodiscard]] work parse_work(std::span<const std::string> flags);
/// The flags of a run, for people.
[[nodiscard]] std::string work_help();

/// `parallel loops`, as people read it.
[[nodiscard]] std::string_view name(way what);

/// The checksum that a program has when the calling thread runs it alone.
[[nodiscard]] std::uint64_t expected_checksum(const work& asked);

}  // namespace teff::programs
