#pragma once

#include <teff/runtime.hpp>
#include <teff/task_graph.hpp>

#include <atomic>
#include <cstdint>
#include <functional>

#include "teff/apps/ways.hpp"

namespace teff::apps {

/// The tasks of an app's graph, on any worker.
class graph_tasks final : public way, public keyed_tasks {
 public:
  graph_tasks(teff::runtime& rt, std::int64_t parts) : graph_(rt), parts_(parts) {}

  void run(const step& each) override { each.body({0, each.count}); }
  void wait() override {}
  [[nodiscard]] keyed_tasks* graph() override { return this; }

  [[nodiscard]] std::int64_t parts() const override { return parts_; }
  void run_graph(const graph_of_tasks& all, const std::function<void()>& begin) override {
    graph_.indegree(all.indegree).body([this, body = all.body](task_key which) {
      made_.fetch_add(1, std::memory_order_relaxed);  // a count
      body(which);
    });
    if (all.number) graph_.dense(static_cast<std::size_t>(all.tasks), all.number);
    if (all.priority) graph_.priority(all.priority);
    begin();
    graph_.wait();
  }
  void fulfill(task_key waiting) override { graph_.fulfill(waiting); }
  [[nodiscard]] std::int64_t made() const { return made_; }

 private:
  teff::task_graph<task_key> graph_;
  std::int64_t parts_;
  std::atomic<std::int64_t> made_ = 0;
};

}  // namespace teff::apps
