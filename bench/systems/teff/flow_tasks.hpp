#pragma once

#include <teff/flow.hpp>
#include <teff/loops.hpp>
#include <teff/named.hpp>
#include <teff/runtime.hpp>
#include <teff/task_graph.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "teff/apps/task_way.hpp"

namespace teff::apps {

/// A step as a parallel loop, for loops and loops_over_ranks.
inline constexpr auto parallel_loop = [](std::int64_t count, const auto& body) {
  teff::parallel_for(std::int64_t{0}, count,
                     [&](std::int64_t first, std::int64_t last) { body({first, last}); });
};

/// How records call a way.
inline std::string_view variant_of(way_kind how) {
  return how == way_kind::tasks ? "t" : how == way_kind::worksharing ? "tf" : name_of(how);
}

/// Steps as tasks of a flow, which several workers may share.
class flow_tasks : public task_way, public task_maker {
 public:
  flow_tasks(teff::runtime& rt, std::int64_t tasks, bool shared)
      : task_way(tasks), flow_(rt), spawned_(rt), shared_(shared) {
    spawned_.indegree([](const spawned*) { return 0; })
        .priority([](const spawned* task) { return task->priority; })
        .body([](spawned* task) { task->body(); });
  }

  void wait() final { flow_.wait(); }
  [[nodiscard]] task_maker* spawns() final { return shared_ ? nullptr : this; }
  void run_spawning(const std::function<void()>& first) final {
    first();
    spawned_.wait();
    kept_.clear();
  }
  void spawn(int priority, std::function<void()> body) final {
    count_one();
    spawned* made = nullptr;
    {
      const std::lock_guard lock(keeping_);
      made = &kept_.emplace_back(priority, std::move(body));
    }
    spawned_.start(made);
  }
  [[nodiscard]] std::int64_t made() const { return made_; }

 protected:
  [[nodiscard]] static teff::access named(const field_access& one) {
    return one.mode == access_mode::in    ? teff::in(one.bytes())
           : one.mode == access_mode::out ? teff::out(one.bytes())
                                          : teff::inout(one.bytes());
  }
  /// Makes a task that a single worker runs.
  template <class... What>
  void make_task(What&&... what) {
    flow_.task(std::forward<What>(what)...);
    count_one();
  }

 private:
  struct spawned {
    spawned(int of, std::function<void()> run) : priority(of), body(std::move(run)) {}
    int priority;
    std::function<void()> body;
  };

  void count_one() { made_.fetch_add(1, std::memory_order_relaxed); }  // a count

  void make(const step& each, range some, const access_list& accesses) final {
    named_.clear();
    for (const field_access& one : accesses) named_.push_back(named(one));
    const char* const name = each.name.data();
    if (!shared_ || some.size() == 1)
      return make_task(teff::task_options{.priority = each.priority}, named_,
                       teff::named(name, [body = each.body, some] { body(some); }));
    flow_.task_for(some.begin, some.end, named_, teff::named(name, [body = each.body](teff::range chunk) {
                     body({chunk.first, chunk.last});
                   }));
    count_one();
  }

  teff::flow flow_;
  std::mutex keeping_;
  std::deque<spawned> kept_;  ///< until all have run: a graph knows a key until its body has returned
  teff::task_graph<spawned*> spawned_;  ///< no task depends on another
  bool shared_;
  std::atomic<std::int64_t> made_ = 0;
  std::vector<teff::access> named_;
};

}  // namespace teff::apps
