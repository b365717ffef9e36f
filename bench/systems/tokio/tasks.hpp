// Tokio's tasks: the spawn patterns on them are spawn/src/lib.rs, what those count and how they are driven is
// C++.
#pragma once

#include <stdexcept>

#include "teff/bench/cores.hpp"
#include "teff/spawn/null_task.hpp"
#include "teff/spawn/task_system.hpp"
#include "teff/spawn/tree.hpp"

using namespace teff::spawn;

extern "C" {
// What lib.rs offers.
bool tokio_start(int workers);
void tokio_wake_all();
void tokio_serial_spawn(std::int64_t tasks);
void tokio_parallel_spawn(std::int64_t tasks);
std::int64_t tokio_fibonacci_both(std::int32_t n);
std::int64_t tokio_fibonacci_one(std::int32_t n);
void tokio_search_tree(const tree* of, const node* from, tree_counts* found);

// What lib.rs calls.
void tokio_null_task(std::int64_t index) {
  null_task(index);
}
std::int32_t tokio_children(const tree* of, const node* from) {
  return of->children(*from);
}
void tokio_child(const node* of, std::int32_t index, node* child) {
  *child = tree::child(*of, index);
}
void tokio_pin(int worker) {
  teff::bench::bind_to_core(worker);
}
}

namespace {

class task_system {
 public:
  explicit task_system(int workers) : workers_(workers) {
    if (!tokio_start(workers)) throw std::runtime_error("Tokio's runtime can't be started");
  }

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "tokio", .variant = "spawn", .version = TEFF_TOKIO_VERSION, .workers = workers_};
  }

  template <class Body>
  static void run(Body body) {
    tokio_wake_all();
    body();
  }

  static void serial_spawn(std::int64_t tasks) { tokio_serial_spawn(tasks); }
  static void parallel_spawn(std::int64_t tasks) { tokio_parallel_spawn(tasks); }
  static std::int64_t fibonacci_both(std::int32_t n) { return tokio_fibonacci_both(n); }
  static std::int64_t fibonacci_one(std::int32_t n) { return tokio_fibonacci_one(n); }
  static tree_counts search_tree(const tree& of, const node& from) {
    tree_counts found;
    tokio_search_tree(&of, &from, &found);
    return found;
  }

 private:
  int workers_;
};

}  // namespace
