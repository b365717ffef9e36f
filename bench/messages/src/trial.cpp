#include "teff/messages/trial.hpp"

namespace teff::messages {
namespace {

bool is_whole_number(const work& asked) {
  return asked.bytes == sizeof(std::uint64_t);
}

}  // namespace

void trial::arrived(std::span<const std::byte> message) {
  const std::uint64_t number = number_of(message);
  seen_.add(number);
  if (!is_whole_number(asked_) && number + 1 == static_cast<std::uint64_t>(asked_.all_turns()))
    seen_.add(fingerprint(message));
}

tally expected(const work& asked, int rank) {
  tally all;
  const auto turns = static_cast<std::uint64_t>(asked.all_turns());
  switch (asked.what) {
    case pattern::one_way:
      for (std::uint64_t turn = 0; turn < turns; ++turn) all.add(turn);
      if (!is_whole_number(asked)) all.add(fingerprint(contents(asked.bytes).numbered(turns - 1)));
      break;
    case pattern::burst: {
      const std::uint64_t messages = rank == 0 ? turns : turns * static_cast<std::uint64_t>(asked.window);
      for (std::uint64_t number = 0; number < messages; ++number) all.add(number);
      break;
    }
    case pattern::chain:
      for (std::uint64_t turn = 0; turn < turns; ++turn) all.add(rank == 0 ? 2 * turn + 2 : 2 * turn + 1);
      break;
    case pattern::idle:
      if (rank == 1) all.add(0);
      break;
  }
  return all;
}

}  // namespace teff::messages
