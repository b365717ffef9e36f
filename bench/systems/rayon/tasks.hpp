// Tasks of rayon: the spawn patterns on them are spawn/src/lib.rs, what those count and how they are driven
// is C++.
#pragma once

#include <stdexcept>

#include "teff/bench/cores.hpp"
#include "teff/spawn/null_task.hpp"
#include "teff/spawn/task_system.hpp"
#include "teff/spawn/tree.hpp"

using namespace teff::spawn;

extern "C" {
// What lib.rs offers.
bool rayon_start(int workers);
void rayon_run(void (*body)(void*), void* context);
void rayon_serial_spawn(std::int64_t tasks);
void rayon_parallel_spawn(std::int64_t tasks);
std::int64_t rayon_fibonacci_both(std::int32_t n);
std::int64_t rayon_fibonacci_one(std::int32_t n);
void rayon_search_tree(const tree* of, const node* from, tree_counts* found);

// What lib.rs calls.
void teff_null_task(std::int64_t index) {
  null_task(index);
}
std::int32_t teff_children(const tree* of, const node* from) {
  return of->children(*from);
}
void teff_child(const node* of, std::int32_t index, node* child) {
  *child = tree::child(*of, index);
}
void teff_pin(int worker) {
  teff::bench::bind_to_core(worker);
}
}

namespace {

class task_system {
 public:
  explicit task_system(int workers) : workers_(workers) {
    if (!rayon_start(workers)) throw std::runtime_error("rayon's thread pool can't be started");
  }

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "rayon", .variant = "join", .version = TEFF_RAYON_VERSION, .workers = workers_};
  }

  template <class Body>
  static void run(Body body) {
    rayon_run([](void* context) { (*static_cast<Body*>(context))(); }, &body);
  }

  static void serial_spawn(std::int64_t tasks) { rayon_serial_spawn(tasks); }
  static void parallel_spawn(std::int64_t tasks) { rayon_parallel_spawn(tasks); }
  static std::int64_t fibonacci_both(std::int32_t n) { return rayon_fibonacci_both(n); }
  static std::int64_t fibonacci_one(std::int32_t n) { return rayon_fibonacci_one(n); }
  static tree_counts search_tree(const tree& of, const node& from) {
    tree_counts found;
    rayon_search_tree(&of, &from, &found);
    return found;
  }

 private:
  int workers_;
};

}  // namespace
