// What a task has to have so that ready queues can hold it: a source's tasks derive from this.
#pragma once

namespace teff::detail {

struct ready_node {
  ready_node() noexcept {}  // so that fields of a derived task may lie in the padding

  ready_node* next_in_line;  // of the queue that holds the task; else whatever its source likes
  int priority;              // the highest first
};

}  // namespace teff::detail
