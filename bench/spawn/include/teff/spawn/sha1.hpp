#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace teff::spawn {

/// A SHA-1 digest as its five words, each in the order of this machine.
using digest = std::array<std::uint32_t, 5>;
/// The sixteen words of one block of a message, padding included.
using block = std::array<std::uint32_t, 16>;

/// The digest of a message of one block.
[[nodiscard]] digest sha1(const block& message);
/// How sha1() computes here: "sha-ni" or "portable".
[[nodiscard]] std::string_view sha1_implementation();

// The two ways, for the tests. sha1_ni may be called where has_sha_ni().
[[nodiscard]] digest sha1_portable(const block& message);
[[nodiscard]] digest sha1_ni(const block& message);
[[nodiscard]] bool has_sha_ni();

}  // namespace teff::spawn
