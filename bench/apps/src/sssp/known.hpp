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
    {"kron13", 8191, 102124, 3340, {6433, 463896, 422}},
    {"kron16", 65536, 909646, 35711, {46688, 3226706, 494}},
    {"kron17", 131071, 1864448, 126356, {90227, 6815280, 516}},
    {"kron20", 1048576, 15699691, 970958, {645268, 147605407, 727}},
};

}  // namespace teff::apps::sssp
