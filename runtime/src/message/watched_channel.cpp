#include "message/watched_channel.hpp"

#include "platform/watchdog.hpp"

namespace teff::detail {

namespace {

std::string on_rank(const std::string& whose, int rank) {
  return whose + ", rank " + std::to_string(rank);
}

}  // namespace

std::unique_ptr<channel> open_watched(transport& through, const std::string& whose) {
  if (through.ranks() == 1) return through.open();
  const watchdog observes(
      [&] { return on_rank(whose, through.rank()) + ": its making waits for " + through.awaited(); },
      watchdog::where_nothing_runs);
  return through.open();
}

void close_watched(std::unique_ptr<channel> open, const std::string& whose, int rank, int ranks) noexcept {
  if (ranks == 1) return;
  try {
    const watchdog observes([&] { return on_rank(whose, rank) + ": its end waits for other ranks"; },
                            watchdog::where_nothing_runs);
    open.reset();
  } catch (...) {
    // No thread could be made, or the environment has changed: the channel closes unwatched.
  }
}

}  // namespace teff::detail
