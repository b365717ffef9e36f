#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace teff::messages {

/// What two ranks do. In all but `idle` rank 0 begins each turn, and rank 1's answer ends it.
enum class pattern : std::uint8_t {
  one_way,  ///< a message goes to rank 1, which sends it back: half of a turn
  burst,    ///< a window of messages of 8 bytes goes to rank 1, which answers the last: a turn / the window
  chain,    ///< tasks without work, each of which needs the one before on the other rank: half of a turn
  idle,     ///< both wait; then rank 0 ends it by a message
};

/// One run.
struct work {
  pattern what = pattern::one_way;
  std::size_t bytes = 8;     ///< of a message, of `one_way`
  std::int64_t window = 64;  ///< messages, of `burst`
  std::int64_t turns = 1000;
  double idle_seconds = 2;  ///< of `idle`

  /// Turns before the clock starts: the first messages meet cold caches.
  [[nodiscard]] std::int64_t warm_turns() const { return turns / 10 + 1; }
  /// All turns: the contents of the last one, after the clock has stopped, are compared in full.
  [[nodiscard]] std::int64_t all_turns() const { return warm_turns() + turns + 1; }
  /// The divisor of a turn.
  [[nodiscard]] std::int64_t parts() const { return what == pattern::burst ? window : 2; }
};

/// Reads the flags of a run, with one dash or two. Throws bench::usage_error.
[[nodiscard]] work parse_work(std::span<const std::string> flags);
/// The flags of a run, for people.
[[nodiscard]] std::string work_help();
/// A pattern's name on the command line.
[[nodiscard]] std::string name(pattern what);

}  // namespace teff::messages
