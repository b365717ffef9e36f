// The ready tasks of a source on all workers, from which a worker that has none steals.
#pragma once

#include <teff/detail/ready/ready_tasks.hpp>

#include <cstddef>
#include <vector>

namespace teff::detail {

class ready_group {
 public:
  explicit ready_group(std::size_t workers) { members_.reserve(workers); }

  // Adds the tasks of the next worker; before any of the queues is used. Throws std::bad_alloc.
  void add(ready_tasks& of_a_worker) { members_.push_back(&of_a_worker); }

  // Steals a shared task for the worker of `thief`, trying all workers from a random one on. Null if there is
  // none, or other thieves were quicker.
  [[nodiscard]] ready_node* steal(ready_tasks& thief) noexcept;

  // Whether steal() would find a task.
  [[nodiscard]] bool sees_shared() const noexcept;

 private:
  std::vector<ready_tasks*> members_;
};

}  // namespace teff::detail
