#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "teff/apps/ways.hpp"

namespace teff::apps {

/// How many random orders of tasks a test tries of each kind. Under a sanitizer an order takes up to a
/// hundred times as long.
#ifdef TEFF_FEW_ORDERS
inline constexpr unsigned orders = 1;
#else
inline constexpr unsigned orders = 3;
#endif

/// Steps by calls, in order.
class in_order final : public way {
 public:
  void run(const step& each) override { each.body({0, each.count}); }
  void wait() override {}
};

/// Chunks of a step, each on the thread that is free first.
class in_chunks final : public way {
 public:
  explicit in_chunks(std::int64_t chunk) : chunk_(chunk) {}

  void run(const step& each) override {
    std::atomic<std::int64_t> next{0};
    const auto run = [&] {
      for (std::int64_t begin = 0; (begin = next.fetch_add(chunk_)) < each.count;)
        each.body({begin, std::min(begin + chunk_, each.count)});
    };
    std::vector<std::jthread> others;
    for (int i = 1; i < threads && i * chunk_ < each.count; ++i) others.emplace_back(run);
    run();
  }
  void wait() override {}

 private:
  static constexpr int threads = 3;
  std::int64_t chunk_;
};

/// Steps in `parts` tasks, in an order that `seed` chooses among the orders that the accesses allow. An
/// access that a step does not name gives a wrong result in some order.
class in_any_order : public way, public task_maker {
 public:
  in_any_order(std::int64_t parts, unsigned seed) : parts_(parts), random_(seed) {}

  void run(const step& each) final {
    const cut all(each.count, parts_);
    for (std::int64_t i = 0; i < all.parts(); ++i) {
      task made{.body = each.body, .some = all.part(i)};
      each.accesses(made.some, made.accesses);
      add(std::move(made));
    }
  }
  void wait() final {
    while (!waiting_.empty()) run_one();
  }
  [[nodiscard]] task_maker* spawns() override { return this; }
  void run_spawning(const std::function<void()>& first) override {
    first();
    wait();
  }
  void spawn(int /*priority*/, std::function<void()> body) override {
    waiting_.push_back({.body = [body = std::move(body)](range) { body(); }, .some = {}, .accesses = {}});
  }

 protected:
  struct task {
    std::function<void(range)> body;
    range some = {};
    access_list accesses = {};
    std::function<bool()> has_come = [] { return true; };  ///< what it waits for beside other tasks
  };
  void add(task made) {
    waiting_.push_back(std::move(made));
    while (waiting_.size() > most_waiting) run_one();
  }

 private:
  static constexpr std::size_t most_waiting = 32;

  static bool depend(const field_access& one, const field_access& other) {
    if (one.mode == access_mode::in && other.mode == access_mode::in) return false;
    const auto a = one.bytes();
    const auto b = other.bytes();
    return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
  }
  [[nodiscard]] bool is_ready(std::size_t which) const {
    const task& one = waiting_[which];
    for (const field_access& mine : one.accesses)
      for (std::size_t before = 0; before < which; ++before)
        for (const field_access& other : waiting_[before].accesses)
          if (depend(other, mine)) return false;
    return one.has_come();
  }
  void run_one() {
    std::vector<std::size_t> ready;
    for (; ready.empty(); std::this_thread::yield())
      for (std::size_t i = 0; i < waiting_.size(); ++i)
        if (is_ready(i)) ready.push_back(i);
    const std::size_t which = ready[random_() % ready.size()];
    const task chosen = std::move(waiting_[which]);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(which));
    chosen.body(chosen.some);
  }

  std::int64_t parts_;
  std::mt19937 random_;
  std::vector<task> waiting_;
};

/// The tasks of a graph, on some threads. All tasks that are ready run before those that they make ready, in
/// an order that `seed` chooses.
class graph_on_threads final : public way, public keyed_tasks {
 public:
  graph_on_threads(std::int64_t parts, unsigned seed) : parts_(parts), random_(seed) {}

  void run(const step& each) override { each.body({0, each.count}); }
  void wait() override {}
  [[nodiscard]] keyed_tasks* graph() override { return this; }

  [[nodiscard]] std::int64_t parts() const override { return parts_; }
  void run_graph(const graph_of_tasks& all, const std::function<void()>& begin) override {
    all_ = &all;
    begin();
    for (auto now = std::exchange(ready_, {}); !now.empty(); now = std::exchange(ready_, {})) {
      std::ranges::shuffle(now, random_);
      in_chunks(1).run({.name = "ready",
                        .count = static_cast<std::int64_t>(now.size()),
                        .accesses = {},
                        .body = [&](range some) { all.body(now[static_cast<std::size_t>(some.begin)]); }});
    }
  }
  void fulfill(task_key waiting) override {
    const std::lock_guard lock(mutex_);
    if (++met_[waiting] < all_->indegree(waiting)) return;
    met_.erase(waiting);
    ready_.push_back(waiting);
  }
  /// Whether a task waits for others, which have not fulfilled its key.
  [[nodiscard]] bool waits() const { return !met_.empty(); }

 private:
  std::int64_t parts_;
  std::mt19937 random_;
  const graph_of_tasks* all_ = nullptr;
  std::mutex mutex_;
  std::map<task_key, int> met_;  ///< dependences of the tasks that wait
  std::vector<task_key> ready_;
};

}  // namespace teff::apps
