// Tasks spawned on the group of all processors, and awaited by their events: a task that waits keeps its
// stack, and its processor runs others. Realm steals nothing: a group has one queue, from which its
// processors take. Tasks dealt out to the processors in turn would wait for a processor that had others to
// do. The queue is first in, first out, which would have thousands of tasks wait; so deeper tasks have
// priority.
#pragma once

#include <realm.h>

#include <cstddef>
#include <cstdint>
#include <latch>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "processors.hpp"
#include "teff/bench/cores.hpp"
#include "teff/spawn/task_system.hpp"

namespace {

/// Of tasks that the one on this thread spawns.
thread_local int depth_here = 0;

/// While it lives, tasks spawned here go before all tasks spawned until then, which may be this task's. So a
/// tree search calls the search below a node's last child itself.
struct deeper {
  deeper() { ++depth_here; }
  ~deeper() { --depth_here; }
  deeper(const deeper&) = delete;
  deeper& operator=(const deeper&) = delete;
};

enum : Realm::Processor::TaskFuncID { call_task = processors::first_free_task };

/// The arguments of every task: Realm copies them. The function to call follows.
struct task_arguments {
  void (*call)(const task_arguments&);
  int depth;
};
template <class Function>
struct call_arguments : task_arguments {
  Function function;
};

void call(const void* given, std::size_t, const void*, std::size_t, Realm::Processor) {
  const auto& arguments = *static_cast<const task_arguments*>(given);
  depth_here = arguments.depth;
  arguments.call(arguments);
}

template <class Function>
Realm::Event spawn(Realm::Processor place, const Function& function) {
  static_assert(std::is_trivially_copyable_v<Function>, "Realm copies the bytes");
  using own = call_arguments<Function>;
  const own arguments{
      {[](const task_arguments& given) { static_cast<const own&>(given).function(); }, depth_here}, function};
  return place.spawn(call_task, &arguments, sizeof arguments, Realm::Event::NO_EVENT, arguments.depth);
}

/// Returns when all have run. Meanwhile this thread runs other tasks.
void wait_for(std::span<const Realm::Event> all) {
  const int depth = depth_here;
  Realm::Event::merge_events(Realm::span<const Realm::Event>(all.data(), all.size())).wait();
  depth_here = depth;
}

class task_system {
 public:
  explicit task_system(int workers) : processors_(workers) {
    processors_.add_task(call_task, call);
    everywhere_ = Realm::ProcessorGroup::create_group(processors_.all());
  }
  ~task_system() { everywhere_.destroy(); }
  task_system(const task_system&) = delete;
  task_system& operator=(const task_system&) = delete;

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "realm",
            .variant = "spawn",
            .version = processors::version(),
            .workers = processors_.count()};
  }

  /// Calls body() on the first processor.
  template <class Body>
  void run(Body body) const {
    std::latch awake(processors_.count());
    std::vector<Realm::Event> all;
    for (int worker = 0; worker < processors_.count(); ++worker)
      all.push_back(::spawn(processors_.of(worker), [&awake, &body, worker] {
        teff::bench::bind_to_core(worker);
        awake.arrive_and_wait();
        if (worker == 0) body();
      }));
    Realm::Event::merge_events(all).external_wait();
  }

  /// Now and then the spawner waits for its tasks: one not yet run holds 2 KiB.
  class tasks {
   public:
    template <class Function>
    void spawn(Function function) {
      running_.push_back(::spawn(everywhere_, function));
      if (running_.size() == most) wait();
    }
    void wait() {
      wait_for(running_);
      running_.clear();
    }

   private:
    static constexpr std::size_t most = 1024;
    std::vector<Realm::Event> running_;
  };

  template <class Body>
  static void scope(Body body) {
    const deeper here;
    tasks all;
    body(all);
    all.wait();
  }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    const deeper here;
    decltype(first()) a;
    const Realm::Event done = ::spawn(everywhere_, [&a, &first] { a = first(); });
    auto b = second();
    wait_for({&done, 1});
    return std::pair(a, b);
  }

  template <class First, class Second>
  static auto fork_both(First first, Second second) {
    const deeper here;
    decltype(first()) a;
    decltype(second()) b;
    const Realm::Event done[] = {::spawn(everywhere_, [&a, &first] { a = first(); }),
                                 ::spawn(everywhere_, [&b, &second] { b = second(); })};
    wait_for(done);
    return std::pair(a, b);
  }

  template <class Function>
  static void spawn_each(std::int64_t count, Function function) {
    const Realm::Event done = ::spawn(everywhere_, [=] { call_each(0, count, function); });
    wait_for({&done, 1});
  }

 private:
  /// Halves the indices until one is left. The task does not wait for the tasks of the other halves, but its
  /// event does.
  template <class Function>
  static void call_each(std::int64_t first, std::int64_t end, Function function) {
    const deeper here;
    while (end - first > 1) {
      const std::int64_t middle = first + (end - first) / 2;
      Realm::Processor::add_finish_event_precondition(
          ::spawn(everywhere_, [=] { call_each(middle, end, function); }));
      end = middle;
    }
    function(first);
  }

  static inline Realm::ProcessorGroup everywhere_ = Realm::ProcessorGroup::NO_PROC_GROUP;
  processors processors_;
};

}  // namespace
