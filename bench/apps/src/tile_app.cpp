#include "tile_app.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

#include "teff/bench/failure.hpp"

namespace teff::apps {
namespace {

constexpr int most_rows = 1 << 16;
constexpr int most_tiles = 1 << 10;  // in a row: a task is named by three of them
const std::map<std::string, block_sizes> all_sizes{{"equal", block_sizes::equal},
                                                   {"random", block_sizes::random}};

}  // namespace

std::shared_ptr<const tile_flags> read_tile_flags(bench::flag_parser& parser) {
  const auto asked = std::make_shared<tile_flags>();
  parser.add("--size", asked->size, "rows and columns of a matrix").within(1, most_rows).takes("COUNT");
  parser.add("--block", asked->block, "rows and columns of a tile").within(1, most_rows).takes("COUNT");
  parser
      .add("--blocks", asked->sizes,
           "tiles of one size (equal), or random numbers of rows and columns: of each from half to one and a "
           "half of --block",
           all_sizes)
      .takes("WORD");
  parser.then([asked] {
    if (asked->size > std::int64_t{asked->block} * most_tiles)
      throw bench::usage_error(fmt::format("--size {} --block {}: a row has at most {} tiles", asked->size,
                                           asked->block, most_tiles));
  });
  return asked;
}

setting setting_of(const tile_flags& asked, const place& at, bool in_layers) {
  const int as_ranks = at.ranks > 1 ? at.ranks : at.workers;
  const setting found{.size = asked.size,
                      .block = asked.block,
                      .sizes = asked.sizes,
                      .grid = in_layers ? process_grid::in_layers(at.ranks) : process_grid::of(at.ranks),
                      .layers = in_layers ? process_grid::layers_of(as_ranks) : 1,
                      .rank = at.rank,
                      .how = at.whole != nullptr ? at.whole->storage() : layout::tiles};
  if (at.whole != nullptr)
    if (const std::string lacks = at.whole->lacks(found); !lacks.empty()) throw lack(lacks);
  return found;
}

bench::json parameters_of(const setting& at) {
  const bool are_equal = at.sizes == block_sizes::equal;
  return {{"size", at.size},
          {"block", at.block},
          {"blocks", are_equal ? "equal" : "random"},
          {"grid", bench::json::array({at.grid.down, at.grid.across})},
          {"layers", at.layers}};
}

}  // namespace teff::apps
