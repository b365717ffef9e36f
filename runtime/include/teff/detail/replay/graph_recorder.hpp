// Observes what a task graph does in one run, and makes lists of it that can be run again
// (src/replay/README.md).
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/keyed_graph.hpp>
#include <teff/detail/replay/recorded_run.hpp>
#include <teff/detail/replay/replay_plan.hpp>
#include <teff/detail/scheduler/release_observer.hpp>
#include <teff/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace teff::detail {

// Says of each key that it is one of the same iteration.
struct no_next_iteration {
  template <class Key>
  std::optional<Key> operator()(const Key&) const {
    return std::nullopt;
  }
};

template <class Key, class Hash, class Next>
class graph_recorder {
  using graph = keyed_graph<Key, Hash>;

 public:
  // The graph must be at rest now, and when the recorder ends.
  graph_recorder(graph& recorded, unsigned workers, Next& next)
      : graph_(recorded), next_(next), logs_(workers), body_(std::move(recorded.functions.body)) {
    graph_.functions.body.template set<Key>([this](const Key& key) { run(key); });
  }
  ~graph_recorder() { graph_.functions.body = std::move(body_); }

  // Calls start(), whose keys depend on nothing.
  template <class Start>
  void run_start(Start& start) {
    struct any_key final : release_observer<Key> {
      bool passes_on(const Key&) override { return true; }
    } anything;
    const within body(graph_, static_cast<release_observer<Key>*>(&anything));
    start();
  }

  // Makes the plan, when the graph is at rest again. `overlap` as replay_plan's; `flag_of(key)` is where the
  // application wants a task's flag, or null. Throws not_replayable.
  template <class FlagOf>
  [[nodiscard]] replay_plan plan(bool overlap, FlagOf flag_of) const {
    const auto positions = all_positions();
    replay_flags flags(logs_.size());
    std::vector<replay_edge> edges;
    std::vector<std::uint32_t> tasks;
    for (std::uint32_t worker = 0; worker < logs_.size(); ++worker) {
      const auto& log = logs_[worker];
      const auto add_edge = [&](std::uint32_t task, const Key& key) {
        const std::optional<Key> follows = next_(key);
        const auto found = positions.find(follows ? *follows : key);
        if (found == positions.end() && !follows)
          throw_error(not_replayable("teff::record: the key " + key_text(key) +
                                     " was fulfilled, but received() did not have it count"));
        if (found == positions.end())
          throw_error(not_replayable("teff::record: " + key_text(key) + " stands for " + key_text(*follows) +
                                     " of the next iteration, which did not run in this one"));
        edges.push_back({{worker, task}, found->second, follows.has_value()});
      };
      tasks.push_back(static_cast<std::uint32_t>(log.tasks.size()));
      for (std::uint32_t task = 0; task < tasks.back(); ++task) {
        for (const Key& key : log.fulfilled[task]) add_edge(task, key);
        flags[worker].push_back(flag_of(log.tasks[task]));
      }
    }
    return {tasks, edges, overlap, flags};
  }
  // Of the workers that ran tasks.
  [[nodiscard]] std::vector<recorded_list<Key>> take_lists() {
    std::erase_if(logs_, [](const auto& each) { return each.tasks.empty(); });
    return std::move(logs_);
  }

 private:
  struct running_body final : release_observer<Key> {
    running_body(recorded_list<Key>& its_log, Next& its_next, const Key& key)
        : kept(its_log), next(its_next), task(its_log.tasks.size()) {
      kept.tasks.push_back(key);
      kept.fulfilled.emplace_back();
    }
    // Other tasks may run within this one, and be added to the log meanwhile.
    bool passes_on(const Key& key) override {
      kept.fulfilled[task].push_back(key);
      return !std::optional<Key>(next(key));
    }
    recorded_list<Key>& kept;
    Next& next;
    std::size_t task;
  };

  void run(const Key& key) {
    running_body observer(logs_[this_worker().index], next_, key);
    const within body(graph_, static_cast<release_observer<Key>*>(&observer));
    body_(std::addressof(key));
  }

  [[nodiscard]] std::unordered_map<Key, replay_task, Hash> all_positions() const {
    std::unordered_map<Key, replay_task, Hash> positions;
    for (std::uint32_t worker = 0; worker < logs_.size(); ++worker) {
      for (std::uint32_t index = 0; index < logs_[worker].tasks.size(); ++index) {
        const Key& key = logs_[worker].tasks[index];
        if (!positions.try_emplace(key, replay_task{worker, index}).second)
          throw_error(not_replayable("teff::record: the task " + key_text(key) +
                                     " ran twice, so it can't be told whom it depends on"));
      }
    }
    return positions;
  }

  graph& graph_;
  Next& next_;
  std::vector<recorded_list<Key>> logs_;
  function_of<void> body_;
};

}  // namespace teff::detail
