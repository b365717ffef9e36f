#include "teff/messages/work.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
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
  CLI::App app{"Sends messages between two ranks, and compares what arrived with what was sent."};
  work asked;

  flag_reader() {
    app.name("");
    app.set_help_flag();
    app.add_option("--pattern", asked.what, "what the ranks do: one_way, burst, chain or idle")
        ->transform(CLI::Transformer(patterns, CLI::ignore_case))
        ->option_text("WORD");
    app.add_option("--bytes", asked.bytes, "of a message that goes one way, a multiple of 8")
        ->check(CLI::Range(std::size_t{8}, std::size_t{1} << 30))
        ->option_text("COUNT");
    app.add_option("--window", asked.window, "messages of 8 bytes that are sent before an answer")
        ->check(CLI::Range(1, 1'000'000))
        ->option_text("COUNT");
    app.add_option("--turns", asked.turns, "how often")
        ->check(CLI::Range(1, 100'000'000))
        ->option_text("COUNT");
    app.add_option("--idle", asked.idle_seconds, "seconds in which both ranks wait")
        ->check(CLI::Range(0.001, 600.0))
        ->option_text("SECONDS");
  }
};

}  // namespace

work parse_work(std::span<const std::string> flags) {
  flag_reader reader;
  bench::read_flags(reader.app, bench::rewritten(reader.app, flags));
  if (reader.asked.bytes % word != 0)
    throw bench::usage_error(
        fmt::format("--bytes {}: messages are made of words of {} bytes", reader.asked.bytes, word));
  return reader.asked;
}

std::string work_help() {
  return flag_reader().app.help();
}

std::string name(pattern what) {
  for (const auto& [said, meant] : patterns)
    if (meant == what) return said;
  return {};
}

}  // namespace teff::messages
