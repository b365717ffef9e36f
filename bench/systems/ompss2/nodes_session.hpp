// NODES, the runtime of OmpSs-2 on nOS-V, used without its compiler. The code below does the work of the
// compiler's code for the pragmas that the comments name.
#pragma once

#include <nodes/bootstrap.h>
#include <nodes/dependencies.h>
#include <nodes/library-mode.h>
#include <nodes/loop.h>
#include <nodes/task-info-registration.h>
#include <nodes/task-instantiation.h>
#include <nodes/taskwait.h>

#include <cstddef>
#include <exception>
#include <semaphore>
#include <type_traits>

#include "session.hpp"
#include "teff/bench/start_barrier.hpp"

/// `#pragma oss task` around arguments(), with a copy of the arguments. A class Arguments may say on what
/// data the task depends: register_accesses(handler), and their number, accesses(); and its priority().
template <class Arguments>
class task_type {
 public:
  static void submit(const Arguments& arguments) {
    static_cast<void>(&enrolled_);  // named, so that it is made
    void* block = nullptr;
    void* task = nullptr;
    std::size_t accesses = 0;
    if constexpr (depends) accesses = arguments.accesses();
    nanos6_create_task(&info_, &invocation_, nullptr, sizeof(Arguments), &block, &task, 0, accesses);
    new (block) Arguments(arguments);
    nanos6_submit_task(task);
  }
  /// `#pragma oss taskiter` around a loop of so many iterations. Its body is arguments(), which runs once:
  /// from then on the tasks that it has submitted run again by themselves.
  static void submit_iterations(const Arguments& arguments, std::size_t iterations) {
    static_cast<void>(&enrolled_);
    void* block = nullptr;
    void* task = nullptr;
    nanos6_create_iter(&info_, &invocation_, nullptr, sizeof(Arguments), &block, &task, nanos6_taskiter_task,
                       0, 0, iterations, 1);
    new (block) Arguments(arguments);
    nanos6_submit_task(task);
  }

 private:
  static constexpr bool has_priority = requires(Arguments arguments) { arguments.priority(); };
  static_assert(alignof(Arguments) <= alignof(void*), "NODES aligns arguments like a pointer");
  static constexpr bool depends = requires(Arguments arguments) { arguments.accesses(); };

  static void run(void* block, void*, nanos6_address_translation_entry_t*) {
    (*static_cast<Arguments*>(block))();
  }
  static void destroy(void* block) { static_cast<Arguments*>(block)->~Arguments(); }
  static constexpr nanos6_task_info_t make_info() {
    nanos6_task_info_t info{};
    if constexpr (depends)
      info.register_depinfo = [](void* block, void*, void* handler) {
        static_cast<Arguments*>(block)->register_accesses(handler);
      };
    if constexpr (!std::is_trivially_destructible_v<Arguments>) info.destroy_args_block = destroy;
    if constexpr (has_priority)
      info.get_priority = [](void* block, nanos6_priority_t* priority) {
        *priority = static_cast<Arguments*>(block)->priority();
      };
    info.num_symbols = depends ? 2 : 0;
    info.implementation_count = 1;
    info.implementations = &implementation_;
    info.coro_handle_idx = -1;
    return info;
  }
  static bool enroll() {
    nanos6_register_task_info(&info_);
    return true;
  }

  static inline nanos6_task_implementation_info_t implementation_{
      nanos6_host_device, run, nullptr, "task", nullptr, nullptr};
  static inline constinit nanos6_task_info_t info_ = make_info();
  static inline nanos6_task_invocation_info_t invocation_{"bench"};
  /// Before main(), as every task type of the compiler's.
  static inline const bool enrolled_ = enroll();
};

template <class Arguments>
void submit(const Arguments& arguments) {
  task_type<Arguments>::submit(arguments);
}

template <class Arguments>
void submit_iterations(const Arguments& arguments, std::size_t iterations) {
  task_type<Arguments>::submit_iterations(arguments, iterations);
}

/// `#pragma oss taskwait`: returns when all tasks that the calling task has submitted are done.
inline void taskwait() {
  nanos6_taskwait("bench");
}

/// Submits many tasks with accesses. One not yet run holds memory for each of them: now and then it waits for
/// all.
class creator {
 public:
  template <class Arguments>
  void create(const Arguments& arguments) {
    submit(arguments);
    held_ += 1 + arguments.accesses();
    if (held_ < most_held) return;
    taskwait();
    held_ = 0;
  }

 private:
  static constexpr std::size_t most_held = std::size_t{1} << 19;
  std::size_t held_ = 0;
};

/// NODES from start to end, with so many workers.
class nodes_session {
 public:
  explicit nodes_session(int workers) {
    const first_cores only(workers);
    nanos6_init();
    check(nosv_detach(
        NOSV_DETACH_NONE));  // NODES attached this thread as a worker, which would have to yield to others
  }
  ~nodes_session() {
    nosv_task_t self = nullptr;
    nosv_attach(&self, nullptr, "main", NOSV_ATTACH_NONE);
    nanos6_shutdown();
  }
  nodes_session(const nodes_session&) = delete;
  nodes_session& operator=(const nodes_session&) = delete;

  [[nodiscard]] static int workers() { return nosv_get_num_cpus(); }
  static std::string release() { return "NODES on " + nosv_release(); }

  /// Calls body() in a task, once all workers are awake.
  template <class Body>
  void run(Body body) const {
    std::exception_ptr failure;
    std::binary_semaphore done(0);
    auto call = [&] {
      try {
        wake_all();
        body();
      } catch (...) {
        failure = std::current_exception();
      }
    };
    nanos6_spawn_function([](void* function) { (*static_cast<decltype(call)*>(function))(); }, &call,
                          [](void* semaphore) { static_cast<std::binary_semaphore*>(semaphore)->release(); },
                          &done, "main");
    done.acquire();
    if (failure) std::rethrow_exception(failure);
  }

 private:
  static void wake_all() {
    teff::bench::start_barrier awake(workers());
    for (int worker = 0; worker < workers(); ++worker) submit([&awake] { awake.arrive_and_wait(); });
    taskwait();
  }
};
