#include "teff/apps/work.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <map>
#include <vector>

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

/// Of an app over ways.
struct reader_of_steps {
  CLI::App cli;
  std::string app;  // known already
  std::int64_t tasks = 0;
  description::maker make;

  explicit reader_of_steps(const description& what) : cli(std::string(what.title)) {
    cli.name("");
    cli.set_help_flag();
    cli.add_option("--app", app, std::string(what.name))->option_text("WORD");
    cli.add_option(
           "--tasks", tasks,
           "how many tasks a loop is cut into; auto or 0: four for each worker, or one worksharing task")
        ->transform(CLI::Transformer(std::map<std::string, int>{{"auto", 0}}))
        ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
        ->option_text("COUNT");
    make = what.flags(cli);
  }
};

/// The value of -app in small letters; empty if there is none.
std::string app_named(std::span<const std::string> flags) {
  std::string name;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string word = flags[i].substr(std::min(flags[i].find_first_not_of('-'), flags[i].size()));
    if (word == "app" && i + 1 < flags.size()) name = flags[i + 1];
    if (word.starts_with("app=")) name = word.substr(4);
  }
  return CLI::detail::to_lower(name);
}

[[noreturn]] void refuse_app(const std::string& name) {
  std::vector<std::string_view> known;
  for (const auto& [said, meant] : apps) known.push_back(said);
  for (const description& each : apps_over_ways()) known.push_back(each.name);
  throw bench::usage_error(
      fmt::format("-app: no app is called '{}'; there are: {}", name, fmt::join(known, " ")));
}

work parse_tiles(std::span<const std::string> flags) {
  flag_reader reader;
  bench::read_flags(reader.cli, bench::rewritten(reader.cli, flags));
  const work& asked = reader.asked;
  if (asked.size > std::int64_t{asked.block} * most_tiles)
    throw bench::usage_error(
        fmt::format("--size {} --block {}: a row has at most {} tiles", asked.size, asked.block, most_tiles));
  return asked;
}

template <class Value>
std::string name_in(const std::map<std::string, Value>& names, Value value) {
  for (const auto& [said, meant] : names)
    if (meant == value) return said;
  return {};
}

}  // namespace

any_work parse_work(std::span<const std::string> flags) {
  const std::string name = app_named(flags);
  for (const description& what : apps_over_ways()) {
    if (what.name != name) continue;
    reader_of_steps reader(what);
    bench::read_flags(reader.cli, bench::rewritten(reader.cli, flags));
    return work_in_steps{&what, std::move(reader.make), reader.tasks};
  }
  if (!name.empty() && !apps.contains(name)) refuse_app(name);
  return parse_tiles(flags);
}

std::string work_help() {
  std::string all = flag_reader().cli.help();
  for (const description& what : apps_over_ways()) all += reader_of_steps(what).cli.help();
  return all;
}

std::string name_of(app what) {
  return name_in(apps, what);
}

std::string name_of(block_sizes sizes) {
  return name_in(all_sizes, sizes);
}

}  // namespace teff::apps
