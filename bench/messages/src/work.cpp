#include "teff/messages/work.hpp"

#include <fmt/format.h>

#include <map>

#include "teff/bench/failure.hpp"
#include "teff/bench/flags.hpp"

namespace teff::messages {
namespace {

const std::map<std::string, pattern> patterns{{"one_way", pattern::one_way},
                                              {"burst", pattern::burst},
                                              {"chain", pattern::chain},
                                              {"idle", pattern::idle}};
constexpr std::size_t word = sizeof(std::uint64_t);

struct flag_reader {
  bench::flag_parser flags{"Sends messages between two ranks, and compares what arrived with what was sent."};
  work asked;

  flag_reader() {
    flags.add("--pattern", asked.what, "what the ranks do: one_way, burst, chain or idle", patterns)
        .takes("WORD");
    flags.add("--bytes", asked.bytes, "of a message that goes one way, a multiple of 8")
        .within(std::size_t{8}, std::size_t{1} << 30)
        .takes("COUNT");
    flags.add("--window", asked.window, "messages of 8 bytes that are sent before an answer")
        .within(1, 1'000'000)
        .takes("COUNT");
    flags.add("--turns", asked.turns, "how often").within(1, 100'000'000).takes("COUNT");
    flags.add("--idle", asked.idle_seconds, "seconds in which both ranks wait")
        .within(0.001, 600.0)
        .takes("SECONDS");
  }
};

}  // namespace

work parse_work(std::span<const std::string> flags) {
  flag_reader reader;
  reader.flags.parse(flags);
  if (reader.asked.bytes % word != 0)
    throw bench::usage_error(
        fmt::format("--bytes {}: messages are made of words of {} bytes", reader.asked.bytes, word));
  return reader.asked;
}

std::string work_help() {
  return flag_reader().flags.help();
}

std::string name(pattern what) {
  for (const auto& [said, meant] : patterns)
    if (meant == what) return said;
  return {};
}

}  // namespace teff::messages
