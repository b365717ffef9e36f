#pragma once

#include <oneapi/tbb/parallel_for.h>

#include <cstddef>
#include <cstdint>

/// The parallel loop: calls body(begin, end) for blocks that cover the indices from first to last - 1. Each
/// block has `grain` indices. With 0, oneTBB chooses the blocks.
template <class Body>
void parallel_blocks(std::int64_t first, std::int64_t last, std::int64_t grain, const Body& body) {
  using indices = tbb::blocked_range<std::int64_t>;
  const auto part = [&body](const indices& some) { body(some.begin(), some.end()); };
  if (grain == 0)
    tbb::parallel_for(indices(first, last), part);
  else
    tbb::parallel_for(indices(first, last, static_cast<std::size_t>(grain)), part, tbb::simple_partitioner());
}
