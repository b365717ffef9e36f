// Tasks of nOS-V, which knows no dependences: the last of a task's predecessors to end submits it. The first
// task that it sets free takes over its nOS-V task and is to run next on its core. For other tasks it creates
// new nOS-V tasks, which go to the scheduler.
#include <atomic>
#include <optional>

#include "session.hpp"
#include "teff/bench/start_barrier.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/counted_tasks.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// While it lives, the thread that made it is a task of nOS-V's, on one of its workers.
class attached {
 public:
  attached() { check(nosv_attach(&self_, nullptr, "main", NOSV_ATTACH_NONE)); }
  ~attached() { nosv_detach(NOSV_DETACH_NONE); }
  attached(const attached&) = delete;
  attached& operator=(const attached&) = delete;

 private:
  nosv_task_t self_ = nullptr;
};

/// Tasks that have a Body each. nOS-V calls its run(), and when it is done with the task, its end(task),
/// which submits the task again or destroys it. No code uses the type any more when all bodies have ended.
template <class Body>
class task_type {
 public:
  task_type() {
    check(nosv_type_init(&type_, run, nullptr, end, "task", nullptr, nullptr, NOSV_TYPE_INIT_NONE));
  }
  ~task_type() { nosv_type_destroy(type_, NOSV_TYPE_DESTROY_NONE); }
  task_type(const task_type&) = delete;
  task_type& operator=(const task_type&) = delete;

  void submit(const Body& body) const {
    nosv_task_t task = nullptr;
    check(nosv_create(&task, type_, sizeof(Body), NOSV_CREATE_NONE));
    of(task) = body;
    check(nosv_submit(task, NOSV_SUBMIT_NONE));
  }
  static Body& of(nosv_task_t task) { return *static_cast<Body*>(nosv_get_task_metadata(task)); }

 private:
  static void run(nosv_task_t task) { of(task).run(); }
  static void end(nosv_task_t task) {
    const Body body = of(task);  // the task may be another one's before it returns
    body.end(task);
  }

  nosv_task_type_t type_ = nullptr;
};

/// A workload while it runs. A task of nOS-V's makes it, and waits for the tasks that it submits.
class execution {
 public:
  explicit execution(workload& work) : workers_(work.workers()), tasks_(work) {}

  /// Returns when every worker has been seen awake.
  void wake_all() {
    start_barrier awake(workers_);
    for (int worker = 0; worker < workers_; ++worker) submit(wakers_, {this, &awake});
    wait();
  }

  void run() {
    tasks_.spawn_first([this](const task_name& first) { submit(chains_, {this, first}); });
    wait();
  }

 private:
  struct waker {
    execution* all;
    start_barrier* awake;
    void run() const { awake->arrive_and_wait(); }
    void end(nosv_task_t task) const { all->destroy(task); }
  };
  struct chain {
    execution* all;
    task_name here;
    void run() const { all->tasks_.execute(here, this_worker()); }
    void end(nosv_task_t task) const { all->finish(here, task); }
  };

  template <class Body>
  void submit(const task_type<Body>& type, const Body& body) {
    running_.begin_one();
    type.submit(body);
  }

  void finish(const task_name& done, nosv_task_t task) {
    const auto spawn = [this](const task_name& ready) { submit(chains_, {this, ready}); };
    const std::optional<task_name> next = tasks_.finish(done, spawn);
    if (!next) return destroy(task);
    task_type<chain>::of(task).here = *next;
    check(nosv_submit(task, NOSV_SUBMIT_IMMEDIATE));
  }

  void destroy(nosv_task_t task) {
    nosv_destroy(task, NOSV_DESTROY_NONE);
    leave();
  }
  void leave() {
    const nosv_task_t waiting = waiting_;
    if (running_.end_one()) check(nosv_submit(waiting, NOSV_SUBMIT_UNLOCKED));
  }
  void wait() {
    leave();
    check(nosv_pause(NOSV_PAUSE_NONE));  // until the last has left
    running_.begin_one();
  }

  int workers_;
  counted_tasks tasks_;
  task_type<waker> wakers_;
  task_type<chain> chains_;
  nosv_task_t waiting_ = nosv_self();
  running_chains running_;  ///< and tasks that wake
};

class nosv final : public adapter {
 public:
  explicit nosv(int workers) {
    const first_cores only(workers);
    check(nosv_init());
  }
  ~nosv() override { nosv_shutdown(); }
  nosv(const nosv&) = delete;
  nosv& operator=(const nosv&) = delete;

  [[nodiscard]] identity describe() const override {
    return {.system = "ompss2", .variant = "nosv", .version = nosv_release(), .workers = nosv_get_num_cpus()};
  }

  void run(workload& work) override {
    const attached self;
    execution all(work);
    all.wake_all();
    work.start();
    all.run();
    work.stop();
  }
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<nosv>(workers); });
}
