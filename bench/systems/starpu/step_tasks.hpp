#pragma once

#include <starpu.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "named_data.hpp"
#include "teff/apps/task_way.hpp"

/// Steps as tasks. Each part of a field is data without bytes, known by the address of its first byte. StarPU
/// derives the order of the tasks from such data, and copies nothing.
class step_tasks final : public teff::apps::task_way, public teff::apps::task_maker {
 public:
  explicit step_tasks(std::int64_t parts) : task_way(parts) {
    codelet_.where = STARPU_CPU;
    codelet_.cpu_funcs[0] = run_body;
    codelet_.nbuffers = STARPU_VARIABLE_NBUFFERS;
    codelet_.name = "step";
  }
  ~step_tasks() override {
    for (const auto& [address, part] : parts_of_fields_) starpu_data_unregister(part.handle);
  }

  void wait() override { starpu_task_wait_for_all(); }
  [[nodiscard]] task_maker* spawns() override { return this; }
  void run_spawning(const std::function<void()>& first) override {
    first();
    wait();
  }
  void spawn(int priority, std::function<void()> body) override {
    starpu_task* const task = created(std::move(body));
    task->priority = priority;
    submit(task);
  }
  [[nodiscard]] std::int64_t made() const { return made_; }

 private:
  struct part_of_field {
    starpu_data_handle_t handle = nullptr;
    bool is_named = false;  ///< by the task that is being made
    bool is_written = false;
  };

  void make(const teff::apps::step& each, teff::apps::range some,
            const teff::apps::access_list& accesses) override {
    named_.clear();
    for (const teff::apps::field_access& one : accesses)
      one.visit_parts(parts(), [&](const std::byte* address) {
        part_of_field& part = parts_of_fields_[address];
        if (part.handle == nullptr) starpu_void_data_register(&part.handle);
        if (!std::exchange(part.is_named, true)) named_.push_back(&part);
        if (one.mode != teff::apps::access_mode::in) part.is_written = true;
      });
    starpu_task* const task = created([body = each.body, some] { body(some); });
    task->priority = each.priority;
    named_data used(*task, named_.size());
    // Without bytes, STARPU_RW means the same order as STARPU_W. After several readers, it costs one task
    // more.
    for (part_of_field* const part : named_) {
      part->is_named = false;
      used.add(part->handle, std::exchange(part->is_written, false) ? STARPU_W : STARPU_R);
    }
    submit(task);
  }

  starpu_task* created(std::function<void()> body) {
    starpu_task* const task = starpu_task_create();
    task->cl = &codelet_;
    task->cl_arg = new std::function<void()>(std::move(body));
    return task;
  }
  void submit(starpu_task* task) {
    if (starpu_task_submit(task) != 0) throw std::runtime_error("StarPU does not take a task");
    made_.fetch_add(1, std::memory_order_relaxed);  // a count
  }
  static void run_body(void* /*buffers*/[], void* argument) {
    const std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()>*>(argument));
    (*body)();
  }

  starpu_codelet codelet_{};
  std::atomic<std::int64_t> made_ = 0;
  std::unordered_map<const std::byte*, part_of_field> parts_of_fields_;
  std::vector<part_of_field*> named_;  ///< by the task that is being made
};
