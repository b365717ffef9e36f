#include "flow/flow_watch.hpp"

#include <teff/detail/task_source/task_source_base.hpp>

#include "flow/accesses.hpp"

#include <algorithm>

namespace teff::detail {

namespace {

constexpr std::size_t most_named = 8;

bool overlap(const access& a, const access& b) {
  bool any = false;
  each_row(a, [&](std::uintptr_t begin, std::uintptr_t end) {
    each_row(b, [&](std::uintptr_t other, std::uintptr_t other_end) {
      any = any || (begin < other_end && other < end);
    });
  });
  return any;
}

// Whether tasks with these accesses run at the same time.
bool share(const access& a, const access& b) noexcept {
  return a.mode == b.mode && (a.mode == access_mode::in || a.mode == access_mode::concurrent);
}

// As "a, b, c", with a word for those that are too many.
std::string list(const std::vector<std::string>& all, const char* between) {
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), most_named); ++i) text += (i == 0 ? "" : between) + all[i];
  if (all.size() > most_named) text += between + std::to_string(all.size() - most_named) + " more";
  return text;
}

}  // namespace

void flow_watch::add(const flow_task& task, std::span<const access> accesses) {
  const std::lock_guard lock(mutex_);
  tasks_.insert_or_assign(&task,
                          entry{made_++, task.parent, task.body->name(), {accesses.begin(), accesses.end()}});
}

void flow_watch::hold(const flow_task& task) noexcept {
  const std::lock_guard lock(mutex_);
  if (const auto found = tasks_.find(&task); found != tasks_.end()) found->second.is_held = true;
}

void flow_watch::remove(const flow_task& task) noexcept {
  const std::lock_guard lock(mutex_);
  tasks_.erase(&task);
}

// The offer of a worksharing task is none that was added.
void flow_watch::go_to(const flow_task& task, step at, unsigned worker) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = tasks_.find(&task);
  if (found == tasks_.end()) return;
  found->second.at = at;
  found->second.worker = worker;
}

// The oldest task that this access waits for. Inner tasks wait for each other, and for the tasks that a weak
// access of their parent waits for.
flow_watch::holder flow_watch::holder_of(const entry& task, const access& what) const {
  holder oldest{nullptr, nullptr};
  for (const auto& [key, each] : tasks_) {
    if (each.parent != task.parent || &each == &task) continue;
    for (const auto& other : each.accesses) {
      const bool in_turns = what.mode == access_mode::commutative && other.mode == access_mode::commutative;
      const bool goes_first =
          in_turns ? task.at == step::made && each.at != step::made : each.number < task.number;
      if (goes_first && !share(what, other) && overlap(what, other) &&
          (oldest.task == nullptr || each.number < oldest.task->number))
        oldest = {&each, &other};
    }
  }
  if (oldest.task != nullptr || task.parent == nullptr) return oldest;
  const auto parent = tasks_.find(task.parent);
  if (parent == tasks_.end()) return oldest;
  for (const auto& outer : parent->second.accesses)
    if (outer.weak && overlap(what, outer)) return holder_of(parent->second, outer);
  return oldest;
}

std::string flow_watch::text_of(const entry& task) const {
  std::vector<std::string> accesses;
  std::vector<std::string> held;
  for (const auto& each : task.accesses) {
    accesses.push_back(access_in_words(each));
    if (const auto [by, other] = holder_of(task, each); by != nullptr)
      held.push_back("it waits for " + accesses.back() + ", which task " + name_in_words(by->name) +
                     " holds by " + access_in_words(*other));
  }
  std::string text = "task " + name_in_words(task.name) + " (" + list(accesses, ", ") + ") ";
  if (task.at == step::made) {
    text += held.empty() ? "is ready" : "has not begun";
  } else if (task.at == step::runs) {
    text += "runs on worker " + std::to_string(task.worker);
  } else if (task.is_held) {
    text += "has run or is suspended, and a handle, an event or a future holds its end";
  } else {
    text += "has run, and a part of it has not ended";
  }
  return held.empty() ? text : text + ": " + list(held, ", ");
}

std::string flow_watch::state() const {
  const std::lock_guard lock(mutex_);
  std::vector<const entry*> all;
  for (const auto& [key, each] : tasks_) all.push_back(&each);
  std::ranges::sort(all, {}, [](const entry* each) { return each->number; });
  std::string text =
      "flow: " + std::to_string(all.size()) + (all.size() == 1 ? " task has" : " tasks have") + " not ended";
  std::vector<std::string> oldest;
  for (const auto* each : all) oldest.push_back(oldest.size() < most_named ? text_of(*each) : std::string());
  return all.empty() ? text : text + ": " + list(oldest, "; ");
}

}  // namespace teff::detail
