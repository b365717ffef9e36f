// How a recording or a replay hears of the keys that bodies fulfil.
#pragma once

namespace teff::detail {

template <class Key>
class fulfil_listener {
 public:
  // Says whether the graph is to count it. May throw: then fulfill() does.
  virtual bool passes_on(const Key& key) = 0;

 protected:
  ~fulfil_listener() = default;
};

class graph_core;

// Of the body that runs on the calling thread: its graph, and the fulfil_listener<Key> of that graph's keys.
// A task that runs on top of the body, but is another worker's or another graph's, has none.
struct listened_body {
  const graph_core* graph = nullptr;
  void* listener = nullptr;
};
[[gnu::tls_model("initial-exec")]] inline constinit thread_local listened_body listening;

}  // namespace teff::detail
