#include "teff/programs/work.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <map>
#include <optional>

#include "teff/bench/failure.hpp"
#include "teff/bench/flags.hpp"
#include "teff/programs/in_order.hpp"

namespace teff::programs {
namespace {

const std::map<std::string, scale> scales{
    {"tiny", scale::tiny}, {"usual", scale::usual}, {"large", scale::large}};

struct flag_reader {
  bench::flag_parser flags{"Runs one program on a system, and compares the result with that of one thread."};
  std::string program{catalogue().front().name};
  scale how_large = scale::usual;
  std::optional<std::int64_t> size;

  flag_reader() {
    flags.add("--program", program, "which one; --cases lists them").takes("NAME");
    flags.add("--scale", how_large, "how large its input is: tiny, usual or large", scales).takes("WORD");
    flags.add("--size", size, "the same as a number of what the program counts").takes("COUNT");
  }
};

void check(const work& asked) {
  const auto& [what, size] = asked;
  const bool is_right = size >= what.least && size <= what.most &&
                        (!what.power_of_two || std::has_single_bit(static_cast<std::uint64_t>(size)));
  if (!is_right)
    throw bench::usage_error(
        fmt::format("--size {}: {} takes {} to {} {}", size, what.name, what.least, what.most, what.unit));
}

}  // namespace

work parse_work(std::span<const std::string> flags) {
  flag_reader reader;
  reader.flags.parse(flags);
  work asked{.what = described(reader.program)};
  asked.size = reader.size.value_or(asked.what.size(reader.how_large));
  check(asked);
  return asked;
}

std::string work_help() {
  return flag_reader().flags.help();
}

std::string_view name(way what) {
  switch (what) {
    case way::fork_join:
      return "fork-join";
    case way::loops:
      return "parallel loops";
    case way::graphs:
      return "task graphs";
    case way::pipelines:
      return "pipelines";
    case way::requests:
      return "requests";
  }
  return "";
}

std::uint64_t expected_checksum(const work& asked) {
  const auto program = load<in_order>(asked);
  in_order one_thread;
  program->run(one_thread);
  return program->checksum();
}

}  // namespace teff::programs
