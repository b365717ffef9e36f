#include "teff/apps/work.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "teff/bench/failure.hpp"
#include "teff/bench/flags.hpp"

namespace teff::apps {
namespace {

const std::map<std::string, app> apps{
    {"gemm", app::gemm}, {"gemm_3d", app::gemm_3d}, {"cholesky", app::cholesky}};
const std::map<std::string, block_sizes> all_sizes{{"equal", block_sizes::equal},
                                                   {"random", block_sizes::random}};
constexpr int most_rows = 1 << 16;
constexpr int most_tiles = 1 << 10;  // in a row: a task is named by three of them

struct flag_reader {
  CLI::App cli{"Multiplies or factorises a matrix tile by tile, and checks the result by its residual."};
  work asked;

  flag_reader() {
    cli.name("");
    cli.set_help_flag();
    cli.add_option("--app", asked.what,
                   "what is computed: gemm (C = A B), gemm_3d (the same, in layers) or cholesky (A = L L^T)")
        ->transform(CLI::Transformer(apps, CLI::ignore_case))
        ->option_text("WORD");
    cli.add_option("--size", asked.size, "rows and columns of a matrix")
        ->check(CLI::Range(1, most_rows))
        ->option_text("COUNT");
    cli.add_option("--block", asked.block, "rows and columns of a tile")
        ->check(CLI::Range(1, most_rows))
        ->option_text("COUNT");
    cli.add_option(
           "--blocks", asked.sizes,
           "tiles of one size (equal), or random numbers of rows and columns: of each from half to one and a "
           "half of --block")
        ->transform(CLI::Transformer(all_sizes, CLI::ignore_case))
        ->option_text("WORD");
    cli.footer("Example:  --app cholesky --size 4096 --block 128");
  }
};

template <class Value>
std::string name_in(const std::map<std::string, Value>& names, Value value) {
  for (const auto& [said, meant] : names)
    if (meant == value) return said;
  return {};
}

}  // namespace

work parse_work(std::span<const std::string> flags) {
  flag_reader reader;
  bench::read_flags(reader.cli, bench::rewritten(reader.cli, flags));
  const work& asked = reader.asked;
  if (asked.size > std::int64_t{asked.block} * most_tiles)
    throw bench::usage_error(
        fmt::format("--size {} --block {}: a row has at most {} tiles", asked.size, asked.block, most_tiles));
  return asked;
}

std::string work_help() {
  return flag_reader().cli.help();
}

std::string name_of(app what) {
  return name_in(apps, what);
}

std::string name_of(block_sizes sizes) {
  return name_in(all_sizes, sizes);
}

}  // namespace teff::apps
