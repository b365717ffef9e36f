// The part of a task that ready queues need: a source's tasks derive from this.
#pragma once

namespace teff::detail {

struct ready_node {
  ready_node() noexcept {}  // so that fields of a derived task may lie in the padding

  ready_node* next_in_line;  // used by the queue that holds the task; else free for its source
  int priority;              // the highest runs first
};

}  // namespace teff::detail
