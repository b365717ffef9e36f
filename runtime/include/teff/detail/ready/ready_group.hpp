// Ready tasks of a source on all workers: where a worker that has none steals.
#pragma once

#include <teff/detail/ready/ready_tasks.hpp>

#include <vector>

namespace teff::detail {

class ready_group {
 public:
  // Those of the next worker; before any of them is used. Throws std::bad_alloc.
  void add(ready_tasks& of_a_worker) { members_.push_back(&of_a_worker); }

  // A shared task of any worker, tried from a random one on. Null if there is none, or others were quicker.
  // For the worker of `thief`.
  [[nodiscard]] ready_node* steal(ready_tasks& thief) noexcept;

  // Whether steal() would find a task.
  [[nodiscard]] bool sees_shared() const noexcept;

 private:
  std::vector<ready_tasks*> members_;
};

}  // namespace teff::detail
