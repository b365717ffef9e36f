// Goroutines: the spawn patterns on them are spawn/spawn.go, what those count and how they are driven is C++.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "teff/spawn/null_task.hpp"
#include "teff/spawn/task_system.hpp"
#include "teff/spawn/tree.hpp"

using namespace teff::spawn;

extern "C" {
// What spawn.go offers.
void golang_start(int workers);
char* golang_version();
void golang_wake_all();
void golang_serial_spawn(std::int64_t tasks);
void golang_parallel_spawn(std::int64_t tasks);
std::int64_t golang_fibonacci_both(std::int32_t n);
std::int64_t golang_fibonacci_one(std::int32_t n);
void golang_search_tree(const tree* of, const node* from, tree_counts* found);

// What spawn.go calls.
void golang_null_task(std::int64_t index) {
  null_task(index);
}
std::int32_t golang_children(const tree* of, const node* from) {
  return of->children(*from);
}
/// Makes a child, and returns how many children it has itself.
std::int32_t golang_child(const tree* of, const node* from, std::int32_t index, node* child) {
  *child = tree::child(*from, index);
  return of->children(*child);
}
}

namespace {

class task_system {
 public:
  explicit task_system(int workers) : workers_(workers) { golang_start(workers); }

  [[nodiscard]] teff::bench::identity describe() const {
    char* const text = golang_version();
    const std::string version(text);
    std::free(text);
    return {.system = "golang", .variant = "goroutines", .version = version, .workers = workers_};
  }

  template <class Body>
  static void run(Body body) {
    golang_wake_all();
    body();
  }

  static void serial_spawn(std::int64_t tasks) { golang_serial_spawn(tasks); }
  static void parallel_spawn(std::int64_t tasks) { golang_parallel_spawn(tasks); }
  static std::int64_t fibonacci_both(std::int32_t n) { return golang_fibonacci_both(n); }
  static std::int64_t fibonacci_one(std::int32_t n) { return golang_fibonacci_one(n); }
  static tree_counts search_tree(const tree& of, const node& from) {
    tree_counts found;
    golang_search_tree(&of, &from, &found);
    return found;
  }

 private:
  int workers_;
};

}  // namespace
