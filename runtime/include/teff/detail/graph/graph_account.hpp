// What a worker publishes about its part of a graph, so that others know when the graph is at rest.
#pragma once

#include <atomic>
#include <cstdint>

namespace teff::detail {

// The part of one worker that others read (src/graph/rest.md). That worker writes it.
struct alignas(128) graph_account {
  // Items that this worker gave to others: messages, shared tasks.
  std::atomic<std::uint64_t> begun{0};
  // Items that it took, once all that followed from them has been done, or given away.
  std::atomic<std::uint64_t> ended{0};
  // Nodes that it has made for keys that wait, less those that it has dropped. Goes with `ended`.
  std::atomic<std::int64_t> waiting{0};
  // Whether the worker is using its own tables; and whether a waiter uses them, or wants to (enter()).
  std::atomic<bool> inside{false};
  std::atomic<bool> visited{false};
  // Whether the worker runs the graph because it waits for it. Its own.
  bool awaits = false;

  void begin_one() noexcept {
    // Relaxed: the message that follows is released, and so is `ended` of the worker that takes it.
    begun.store(begun.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

}  // namespace teff::detail
