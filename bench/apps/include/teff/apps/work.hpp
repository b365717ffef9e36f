#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "teff/apps/app.hpp"
#include "teff/apps/tiling.hpp"

namespace teff::apps {

/// What is computed on tiles.
enum class app : std::uint8_t {
  gemm,      ///< C = A B
  gemm_3d,   ///< the same, in layers
  cholesky,  ///< A = L L^T
};

/// One run on tiles.
struct work {
  app what = app::gemm;
  int size = 2048;  ///< rows and columns of a matrix
  int block = 256;  ///< rows and columns of a tile; those at the end may be smaller
  block_sizes sizes = block_sizes::equal;
};

/// One run of an app over ways.
struct work_in_steps {
  const description* what = nullptr;
  description::maker make;
  std::int64_t tasks = 0;  ///< that a step is cut into; 0: as suits the workers
};

using any_work = std::variant<work, work_in_steps>;

/// Reads the flags of a run, with one dash or two. Throws bench::usage_error.
[[nodiscard]] any_work parse_work(std::span<const std::string> flags);
/// The flags of a run, for people.
[[nodiscard]] std::string work_help();
/// An app's name on the command line.
[[nodiscard]] std::string name_of(app what);
/// The sizes of tiles, in the words of the command line.
[[nodiscard]] std::string name_of(block_sizes sizes);

}  // namespace teff::apps
