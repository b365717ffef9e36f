#pragma once

#include <memory>
#include <stdexcept>

#include "teff/spawn/task_system.hpp"
#include "teff/spawn/tree.hpp"
#include "teff_spawn.h"

/// The functions that a system in another language offers. The patterns are called within the body of
/// teff_spawn_run.
extern "C" {
/// Makes the workers, each bound to its core. Returns how many there are; 0 where they can't be had.
std::int32_t teff_spawn_start(std::int32_t workers);
/// Calls body(context) when all workers are awake.
void teff_spawn_run(void (*body)(void*), void* context);
void teff_spawn_serial(std::int64_t tasks);
void teff_spawn_parallel(std::int64_t tasks);
std::int64_t teff_spawn_fibonacci_both(std::int32_t n);
std::int64_t teff_spawn_fibonacci_one(std::int32_t n);
void teff_spawn_search_tree(const teff_spawn_tree* tree, const teff_spawn_node* from,
                            teff_spawn_counts* found);
}

namespace teff::spawn {

/// A system whose patterns are written in another language. Its class task_system derives from this one and
/// describes the system. There is one in a program.
///
///   class task_system : public foreign_patterns {
///    public:
///     using foreign_patterns::foreign_patterns;
///     bench::identity describe() const { ... }
///   };
class foreign_patterns {
 public:
  /// Throws if the system can't be started.
  explicit foreign_patterns(int workers) : workers_(teff_spawn_start(workers)) {
    if (workers_ == 0) throw std::runtime_error("the workers can't be started");
  }

  template <class Body>
  static void run(Body body) {
    teff_spawn_run([](void* context) { (*static_cast<Body*>(context))(); }, std::addressof(body));
  }

  static void serial_spawn(std::int64_t tasks) { teff_spawn_serial(tasks); }
  static void parallel_spawn(std::int64_t tasks) { teff_spawn_parallel(tasks); }
  static std::int64_t fibonacci_both(std::int32_t n) { return teff_spawn_fibonacci_both(n); }
  static std::int64_t fibonacci_one(std::int32_t n) { return teff_spawn_fibonacci_one(n); }
  static tree_counts search_tree(const tree& of, const node& from);

 protected:
  ~foreign_patterns() = default;
  [[nodiscard]] int workers() const noexcept { return workers_; }

 private:
  int workers_;
};

}  // namespace teff::spawn
