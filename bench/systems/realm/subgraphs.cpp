// Where timesteps repeat, the tasks of a shard at some of them are a subgraph, and Realm spawns them when it
// is instantiated. Tasks of other timesteps are spawned one by one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "shard.hpp"
#include "sharded.hpp"
#include "teff/graphs/period.hpp"
#include "window_subgraph.hpp"

namespace {

using namespace teff::graphs;

class subgraphs final : public shard {
 public:
  static constexpr const char* variant = "subgraphs";

  subgraphs(execution& run, int number) : shard(run, number) {
    const period repeated = find_period(run.work);
    if (repeated.length == 0) return;
    first_ = repeated.first + 1;  // its tasks also wait for tasks of a timestep that repeats
    const std::int64_t tasks = own_tasks(first_, first_ + repeated.length);
    if (tasks == 0 || tasks > most_tasks) return;
    const std::int64_t repeats = (repeated.end() - first_) / repeated.length;
    const std::int64_t wanted = std::clamp<std::int64_t>(few_tasks / tasks, 1, repeats);
    windows_ = (repeats + wanted - 1) / wanted;
    window_.emplace(run, number, first_, repeats / windows_ * repeated.length);
  }

  void run_all() {
    std::int64_t timestep = 0;
    const auto spawn_until = [&](std::int64_t end) {
      for (; timestep < end; ++timestep) spawn_timestep(timestep);
    };
    if (window_) {
      spawn_until(first_);
      for (std::int64_t i = 0; i < windows_; ++i, timestep += window_->length()) instantiate(timestep);
    }
    spawn_until(run_.work.steps());
    Realm::Event::merge_events(marks_[0], marks_[1]).wait();
    wait();
  }

 private:
  /// Of a window: with more, those that wait fill the caches.
  static constexpr std::int64_t few_tasks = 256;
  /// Realm takes a time for a subgraph that grows with the square of its tasks: 0.2 s for so many. Where
  /// they are more before timesteps repeat, there is no subgraph.
  static constexpr std::int64_t most_tasks = 4096;

  [[nodiscard]] std::int64_t own_tasks(std::int64_t first, std::int64_t end) const {
    std::int64_t all = 0;
    for (std::size_t i = 0; i < graphs_.size(); ++i)
      for (std::int64_t timestep = first; timestep < end; ++timestep) {
        const interval points = run_.graphs[i].table.points(timestep);
        for (std::int64_t point = points.first; point <= points.last; ++point) all += is_own(i, point);
      }
    return all;
  }

  void instantiate(std::int64_t first) {
    barriers_.clear();
    before_.clear();
    std::size_t arriving = 0;
    std::size_t awaiting = 0;
    for (std::int64_t step = 0; step < window_->length(); ++step)
      for (std::size_t i = 0; i < graphs_.size(); ++i) {
        if (first + step >= run_.graphs[i].table.graph().steps) continue;
        advance(i, first + step);
        const auto is_here = [&](const std::vector<task_name>& all, std::size_t at) {
          return at < all.size() && all[at].graph == i && all[at].timestep == step;
        };
        for (; is_here(window_->arriving(), arriving); ++arriving)
          barriers_.push_back(
              graphs_[i].barriers[static_cast<std::size_t>(window_->arriving()[arriving].point)]);
        for (; is_here(window_->awaited(), awaiting); ++awaiting)
          before_.push_back(awaited(i, first + step, window_->awaited()[awaiting].point));
      }
    const Realm::Event all = window_->instantiate(first, barriers_, before_, after_);
    for (std::size_t i = 0; i < after_.size(); ++i) {
      const task_name& task = window_->last()[i];
      graphs_[task.graph].rows[(first + task.timestep) % 2][static_cast<std::size_t>(task.point)] = after_[i];
    }
    marks_[0].wait();  // as keep_near does
    marks_[0] = marks_[1];
    marks_[1] = all;
  }

  std::int64_t first_ = 0;
  std::int64_t windows_ = 0;
  std::optional<window_subgraph> window_;
  std::vector<Realm::Barrier> barriers_;
  std::vector<Realm::Event> before_;
  std::vector<Realm::Event> after_;
  Realm::Event marks_[2] = {Realm::Event::NO_EVENT, Realm::Event::NO_EVENT};  ///< of the last windows
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<sharded<subgraphs>>(workers); });
}
