#include <teff/detail/flow/flow_loop.hpp>
#include <teff/detail/flow/flow_recording.hpp>
#include <teff/error.hpp>

#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace teff::detail {

namespace {

// Which tasks of a list wait for which. The flow has forgotten this, so only the list says it.
class dependences {
 public:
  // Calls edge(from, to) for each task `from` that the access of task `to` waits for.
  template <class Edge>
  void add(std::size_t to, const access& what, Edge edge) {
    for (std::size_t row = 0; what.bytes != 0 && row < what.rows; ++row) {
      const auto begin = reinterpret_cast<std::uintptr_t>(what.first) + row * what.stride;
      for (auto each = cut(begin), end = cut(begin + what.bytes); each != end; ++each)
        join(each->second, to, what.mode, edge);
    }
  }

 private:
  struct groups {
    access_mode mode = access_mode::write;
    std::vector<std::size_t> before;
    std::vector<std::size_t> last;
  };
  using ranges = std::map<std::uintptr_t, groups>;

  template <class Edge>
  static void join(groups& range, std::size_t to, access_mode mode, Edge edge) {
    const bool joins = range.mode == mode && (mode == access_mode::in || mode == access_mode::concurrent);
    if (!joins) range.before = std::exchange(range.last, {});
    range.mode = mode;
    range.last.push_back(to);
    for (const auto from : range.before)
      if (from != to) edge(from, to);
  }
  // The range that begins at `at`. Each range reaches to the next.
  ranges::iterator cut(std::uintptr_t at) {
    const auto after = ranges_.upper_bound(at);
    if (after != ranges_.begin() && std::prev(after)->first == at) return std::prev(after);
    return ranges_.emplace_hint(after, at, after == ranges_.begin() ? groups() : std::prev(after)->second);
  }

  ranges ranges_;
};

// The loop of a task that all workers run in a replay, or null.
flow_loop* shared_loop_of(flow_task& task) noexcept {
  flow_loop* const loop = task.body->loop != nullptr ? task.body->loop(task) : nullptr;
  return loop != nullptr && loop->workers() > 1 && loop->pays.load(std::memory_order_relaxed) ? loop
                                                                                              : nullptr;
}

}  // namespace

flow_recording::flow_recording(std::shared_ptr<flow_core> of)
    : flow_(std::move(of)), logs_(flow_->workers()) {
  if (flow_->recorded != nullptr)
    throw misuse("teff::flow::record: called while the flow is recorded: call it when that has returned");
  flow_->recorded = &made_;
  for (unsigned i = 0; i < logs_.size(); ++i) flow_->worker(i).log = &logs_[i];
  records_ = true;
}

flow_recording::~flow_recording() {
  if (records_) finish(true);
  const auto by = flow_->here();
  for (const auto& each : made_) {
    each.task->body->destroy(*each.task);
    flow_->let_go(by, *each.task);
  }
}

void flow_recording::finish(bool failed) {
  records_ = false;
  flow_->recorded = nullptr;
  for (unsigned i = 0; i < logs_.size(); ++i) flow_->worker(i).log = nullptr;
  if (failed) return;

  std::unordered_map<const flow_task*, std::size_t> number;
  for (std::size_t i = 0; i < made_.size(); ++i) number.emplace(made_[i].task, i);
  // Each list has a worker's tasks in the order of their making. All dependences follow this order, so lists
  // and dependences have no cycle.
  std::vector<std::uint32_t> counts;
  std::vector<std::vector<replay_task>> places(made_.size());
  for (std::uint32_t worker = 0; worker < logs_.size(); ++worker) {
    auto& log = logs_[worker];
    if (std::ranges::any_of(log, [&](const flow_task* each) { return !number.contains(each); }))
      throw not_replayable(
          "teff::flow::record: a task made tasks in its body, which a replay does not repeat: "
          "make them outside, or run this part without a recording");
    std::erase_if(log, [](flow_task* each) { return shared_loop_of(*each) != nullptr; });
    for (const auto& each : made_)
      if (shared_loop_of(*each.task) != nullptr) log.push_back(each.task);
    std::ranges::sort(log, {}, [&](const flow_task* each) { return number[each]; });
    for (std::uint32_t i = 0; i < log.size(); ++i) places[number[log[i]]].push_back({worker, i});
    counts.push_back(static_cast<std::uint32_t>(log.size()));
  }
  // The same list twice. A dependence of the second half on the first leads from an iteration to the next.
  std::vector<replay_edge> edges;
  const auto size = made_.size();
  const auto add_edges = [&](std::size_t from, std::size_t to) {
    for (const auto& a : places[from])
      for (const auto& b : places[to % size]) edges.push_back({a, b, to >= size});
  };
  dependences all;
  for (std::size_t i = 0; i < 2 * size; ++i)
    for (const auto& each : made_[i % size].accesses)
      all.add(i, each, [&](std::size_t from, std::size_t to) {
        if (from < size) add_edges(from, to);
      });
  // A worker that begins a loop anew finds no other worker in the iteration before.
  for (std::size_t i = 0; i < size; ++i)
    if (shared_loop_of(*made_[i].task) != nullptr) add_edges(i, i + size);
  core_.emplace(flow_->runtime(), replay_plan(counts, edges, true));
  for (auto& each : logs_)
    if (!each.empty()) lists_.push_back(std::move(each));
}

void flow_recording::replay(std::uint64_t times) {
  flow_->expect_runtime("teff::flow_recording::replay");
  expect_own_process(flow_->runtime());
  if (times == 0 || !core_) return;
  struct context {
    flow_recording& all;
    std::uint64_t times;
  } what{*this, times};
  // A replay that failed has left iterations behind.
  for (const auto& each : made_)
    if (flow_loop* const loop = shared_loop_of(*each.task))
      for (unsigned i = 0; i < loop->workers(); ++i) loop->set(i, {});
  core_->replay({&what, [](void* given, std::size_t part) noexcept {
                   const auto& me = *static_cast<context*>(given);
                   catch_all([&] { me.all.run_part(part, me.times); },
                             [&] { me.all.core_->fail(std::current_exception()); });
                 }});
}

void flow_recording::run_part(std::size_t part, std::uint64_t times) {
  const auto outer = std::exchange(flow_core::replayed, flow_.get());
  const auto step = [&](std::size_t index, std::uint64_t) {
    flow_task& task = *lists_[part][index];
    if (shared_loop_of(task) != nullptr)
      return flow_core::replay_loop(
          core_->parts()[part].worker, task,
          [](const void* of) { return static_cast<const replay_core*>(of)->failed(); }, &*core_);
    task.body->run(task);
    for (std::size_t i = 0; task.body->reduction != nullptr; ++i) {
      reduction_part* const copy = task.body->reduction(task, i);
      if (copy == nullptr) break;
      copy->combine(*copy);
    }
  };
  undo_if_thrown([&] { run_replay_part(*core_, part, times, step); }, [&] { flow_core::replayed = outer; });
  flow_core::replayed = outer;
}

}  // namespace teff::detail
