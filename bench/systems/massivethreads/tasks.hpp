// Tasks as threads of MassiveThreads, which runs a thread as soon as it is created: other workers steal the
// rest of its creator. A scope is a task group of its interface in the manner of TBB.
#pragma once

#include <mtbb/task_group.h>

#include <utility>

#include "library.hpp"
#include "teff/spawn/task_system.hpp"

namespace {

class task_system {
 public:
  explicit task_system(int workers) : library_(workers) {}

  [[nodiscard]] teff::bench::identity describe() const { return library_.describe("threads"); }

  /// Workers that have nothing to do look for work without ever sleeping.
  template <class Body>
  static void run(Body body) {
    body();
  }

  struct tasks {
    mtbb::task_group group;

    template <class Function>
    void spawn(Function function) {
      group.run(function);
    }
  };
  template <class Body>
  static void scope(Body body) {
    tasks all;
    body(all);
    all.group.wait();
  }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    decltype(first()) a;
    auto task = [&a, &first] { a = first(); };
    const myth_thread_t thread = myth_create(
        [](void* given) -> void* {
          (*static_cast<decltype(task)*>(given))();
          return nullptr;
        },
        &task);
    auto b = second();
    myth_join(thread, nullptr);
    return std::pair(a, b);
  }

 private:
  library library_;
};

}  // namespace
