// The state that one worker keeps of a task source.
#pragma once

#include <teff/detail/ready/ready_tasks.hpp>
#include <teff/detail/scheduler/frame.hpp>
#include <teff/detail/task_source/task_source_base.hpp>

#include <cstdint>

namespace teff::detail {

// Used by its worker only, but for the part of `ready` that is for thieves, and the tasks of its place, which
// the thread in the place uses. A source's own state of a worker derives from it.
struct source_worker {
  source_worker(unsigned worker, bool is_alone) noexcept : index(worker), alone(is_alone), ready(worker) {}

  // Whether a task that any worker might run may be kept to run next: a body makes it ready, or it came alone
  // from outside.
  [[nodiscard]] bool keeps_next() const noexcept { return running != nullptr || runs_what_it_receives; }
  // Items that it has taken: messages, ends that were held, shared tasks.
  [[nodiscard]] std::uint64_t items() const noexcept { return items_received + ready.shared_taken(); }

  static constexpr std::uint64_t no_place = ~std::uint64_t{0};  // nor is it any_worker

  const unsigned index;
  std::uint64_t inside = no_place;  // or `index`, while the worker is in its own place
  const bool alone;                 // the source's only worker
  ready_tasks ready;                // the queues
  running_task* running = nullptr;  // the innermost
  std::uint64_t items_received = 0;
  bool runs_what_it_receives = false;
  bool steps_out = false;  // of its place, for the length of a body
};

}  // namespace teff::detail
