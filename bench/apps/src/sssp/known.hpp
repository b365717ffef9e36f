#pragma once

#include <cstdint>
#include <string_view>

#include "sssp/answer.hpp"

namespace teff::apps::sssp {

/// The results that the suite's own program prints for a graph.
struct known {
  std::string_view name;
  vertex vertices;
  std::int64_t edges;
  vertex source;
  answer found;
};
inline constexpr known all_known[] = {
    {"kron10", 1024, 10496, 895, {896, 62793, 306}},
    {"uniform10", 1024, 16125, 895, {1024, 74162, 126}},
    {"kron16", 65536, 909646, 35711, {46688, 3226706, 494}},
    {"kron20", 1048576, 15699691, 970958, {645268, 147605407, 727}},
};

}  // namespace teff::apps::sssp
