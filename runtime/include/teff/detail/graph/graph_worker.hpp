// The state that one worker keeps of a task graph.
#pragma once

#include <teff/detail/graph/key_table.hpp>
#include <teff/detail/graph/node_pool.hpp>
#include <teff/detail/task_source/source_worker.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace teff::detail {

struct alignas(64) graph_worker : source_worker {
  graph_worker(unsigned worker, bool is_alone, node_exchange& nodes)
      : source_worker(worker, is_alone), pool(nodes) {}

  node_pool pool;

  // Of the worker's place (src/task_source/places.md): its keys, and the pool of the worker that is in it.
  key_table placed;
  node_pool* pool_inside = &pool;

  // Used by this worker only.
  // Keys without a place that wait or whose tasks have not ended: those that this worker has begun, less
  // those that it has ended. Other workers read it to find whether the table is crowded.
  std::atomic<std::int64_t> unplaced{0};
  void count_unplaced(std::int64_t more) noexcept {
    unplaced.store(unplaced.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
};

}  // namespace teff::detail
