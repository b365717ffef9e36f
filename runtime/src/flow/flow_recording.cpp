#include <teff/detail/flow/flow_loop.hpp>
#include <teff/detail/flow/flow_recording.hpp>
#include <teff/error.hpp>

#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <string>
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

// Task `to` waits for task `from`, by their numbers in the list of tasks. If `to` is the size of the list or
// more, the wait leads from an iteration to the next.
struct wait_for {
  std::size_t from;
  std::size_t to;
};

// Takes the same list twice: a dependence of the second half on the first leads to the next iteration.
std::vector<wait_for> waits_of(const std::vector<flow_record>& made) {
  std::vector<wait_for> waits;
  dependences all;
  for (std::size_t i = 0; i < 2 * made.size(); ++i)
    for (const auto& each : made[i % made.size()].accesses)
      all.add(i, each, [&](std::size_t from, std::size_t to) {
        if (from < made.size()) waits.push_back({from, to});
      });
  return waits;
}

// The order in which a replay runs the tasks of one worker: that in which their bodies began, as far as the
// dependences allow. A replay orders commutative accesses and reductions as writers; the recorded run did
// not. All dependences follow the order, so the lists of the workers and the dependences have no cycle.
std::vector<std::size_t> ranks_of(const std::vector<wait_for>& waits,
                                  const std::vector<std::uint64_t>& begun) {
  const auto size = begun.size();
  std::vector<std::vector<std::size_t>> followers(size);
  std::vector<std::size_t> missing(size);
  for (const auto& each : waits) {
    if (each.to >= size) continue;
    followers[each.from].push_back(each.to);
    ++missing[each.to];
  }
  const auto later = [&](std::size_t a, std::size_t b) { return begun[a] > begun[b]; };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> ready(later);
  for (std::size_t i = 0; i < size; ++i)
    if (missing[i] == 0) ready.push(i);
  std::vector<std::size_t> ranks(size);
  for (std::size_t rank = 0; !ready.empty(); ++rank) {
    const auto next = ready.top();
    ready.pop();
    ranks[next] = rank;
    for (const auto each : followers[next])
      if (--missing[each] == 0) ready.push(each);
  }
  return ranks;
}

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
  const auto by = flow_->here_outside();
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

  const auto size = made_.size();
  const auto waits = waits_of(made_);
  const auto rank = ranks_of(waits, begun());
  std::vector<std::uint32_t> counts;
  std::vector<std::vector<replay_task>> places(size);
  for (std::uint32_t worker = 0; worker < logs_.size(); ++worker) {
    std::vector<std::size_t> own;
    for (const auto& each : logs_[worker])
      if (shared_loop_of(*each.task) == nullptr) own.push_back(each.number);
    for (std::size_t i = 0; i < size; ++i)
      if (shared_loop_of(*made_[i].task) != nullptr) own.push_back(i);
    std::ranges::sort(own, {}, [&](std::size_t each) { return rank[each]; });
    for (std::uint32_t i = 0; i < own.size(); ++i) places[own[i]].push_back({worker, i});
    counts.push_back(static_cast<std::uint32_t>(own.size()));
    if (own.empty()) continue;
    auto& list = lists_.emplace_back();
    for (const auto each : own) list.push_back(made_[each].task);
  }
  logs_.clear();
  std::vector<replay_edge> edges;
  const auto add_edges = [&](const wait_for& each) {
    for (const auto& a : places[each.from])
      for (const auto& b : places[each.to % size]) edges.push_back({a, b, each.to >= size});
  };
  for (const auto& each : waits) add_edges(each);
  // A worker that begins a loop anew finds no other worker in the iteration before.
  for (std::size_t i = 0; i < size; ++i)
    if (shared_loop_of(*made_[i].task) != nullptr) add_edges({i, i + size});
  core_.emplace(flow_->runtime(), replay_plan(counts, edges, true));
}

std::vector<std::uint64_t> flow_recording::begun() {
  std::unordered_map<const flow_task*, std::size_t> number;
  for (std::size_t i = 0; i < made_.size(); ++i) number.emplace(made_[i].task, i);
  std::vector<std::uint64_t> all(made_.size());
  std::size_t ran = 0;
  for (auto& log : logs_)
    for (auto& each : log) {
      const auto found = number.find(each.task);
      if (found == number.end())
        throw not_replayable(
            "teff::flow::record: a task made tasks in its body, which a replay does not repeat: "
            "make them outside, or run this part without a recording");
      each.number = found->second;
      all[each.number] = each.begun;
      ++ran;
    }
  if (ran != made_.size())
    throw not_replayable("teff::flow::record: the flow was cancelled, and only " + std::to_string(ran) +
                         " of " + std::to_string(made_.size()) +
                         " tasks have run: record a run in which all tasks run");
  return all;
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
  const auto step = [&](std::size_t list, std::size_t index, std::uint64_t) {
    flow_task& task = *lists_[list][index];
    if (shared_loop_of(task) != nullptr)
      return flow_core::replay_loop(
          core_->parts()[list].worker, task,
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
