// The spawn patterns on libteff: teff::scope, teff::join and teff::join_tasks, and halving by join for the
// loop of tasks. (Iterations of teff::parallel_for are no tasks until somebody is idle, so they would not be
// what the pattern counts.)
#include <teff/teff.hpp>

#include <utility>

#include "teff/patterns/drive.hpp"

namespace {

class fork_join {
 public:
  explicit fork_join(int workers) : runtime_({.workers = static_cast<unsigned>(workers)}) {}

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "teff",
            .variant = "fork_join",
            .version = "libteff",
            .workers = static_cast<int>(runtime_.workers())};
  }

  template <class Body>
  void run(Body body) {
    runtime_.run(body);
  }

  template <class Body>
  static void scope(Body body) {
    teff::scope tasks;
    body(tasks);
  }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    return teff::join(std::move(first), std::move(second));
  }

  template <class First, class Second>
  static void fork2_void(First first, Second second) {
    teff::join(std::move(first), std::move(second));
  }

  template <class First, class Second>
  static auto fork_both(First first, Second second) {
    return teff::join_tasks(std::move(first), std::move(second));
  }

 private:
  teff::runtime runtime_;
};

}  // namespace

int main(int argc, char** argv) {
  return teff::patterns::drive<fork_join>(argc, argv);
}
