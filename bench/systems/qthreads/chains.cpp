// Qthreads that count: the last predecessor of a task to finish goes on with it, or spawns a qthread that
// does. No qthread waits, so they are simple ones, which need no stack. A sinc counts the qthreads that have
// not ended.
#include <qthread/qthread.h>
#include <qthread/sinc.h>

#include <memory>

#include "session.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/counted_tasks.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// A workload while it runs.
class execution {
 public:
  /// run() is one of those that are counted, until it waits: the count is not 0 before.
  explicit execution(workload& work) : tasks_(work) { qt_sinc_init(&running_, 0, nullptr, nullptr, 1); }
  ~execution() { qt_sinc_fini(&running_); }
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;

  void run() {
    tasks_.spawn_first([this](task_name first) { spawn(first); });
    qt_sinc_submit(&running_, nullptr);
    qt_sinc_wait(&running_, nullptr);
  }

 private:
  struct chain {
    execution* all;
    task_name first;
  };

  void spawn(task_name first) {
    chain own{this, first};
    qt_sinc_expect(&running_,
                   1);  // the spawning task is counted, too, so the count does not come to 0 meanwhile
    check(qthread_spawn(run_chain, &own, sizeof(own), &running_, 0, nullptr, NO_SHEPHERD,
                        QTHREAD_SPAWN_SIMPLE | QTHREAD_SPAWN_RET_SINC_VOID));
  }

  static aligned_t run_chain(void* given) {
    const chain own = *static_cast<chain*>(given);
    own.all->tasks_.run_from(
        own.first, [] { return static_cast<int>(qthread_worker(nullptr)); },
        [&own](task_name first) { own.all->spawn(first); });
    return 0;
  }

  counted_tasks tasks_;
  qt_sinc_t running_;
};

class chains final : public adapter {
 public:
  explicit chains(int workers) : session_(workers) {}

  [[nodiscard]] identity describe() const override { return session::describe("chains"); }

  void run(workload& work) override {
    execution all(work);
    work.start();
    all.run();
    work.stop();
  }

 private:
  session session_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<chains>(workers); });
}
