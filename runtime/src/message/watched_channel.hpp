// Channels whose opening and closing a watchdog observes, since ranks may wait for each other in both.
#pragma once

#include <teff/transport.hpp>

#include <memory>
#include <string>

namespace teff::detail {

// A channel of the communicator `whose`. One rank alone waits for none. Throws what open() of the transport
// throws, invalid_option.
[[nodiscard]] std::unique_ptr<channel> open_watched(transport& through, const std::string& whose);
void close_watched(std::unique_ptr<channel> open, const std::string& whose, int rank, int ranks) noexcept;

}  // namespace teff::detail
