#include "flow/recorded_waits.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>
#include <utility>

namespace teff::detail {

namespace {

constexpr std::size_t none = ~std::size_t{0};

// The flow has forgotten which task waited for which, so only the list says it.
class dependences {
 public:
  explicit dependences(recorded_waits& found) : found_(found) {}

  // The next task of the list, taken twice in a row.
  void add(std::size_t task, const std::vector<access>& accesses) {
    each_row(accesses, [this](std::uintptr_t begin, std::uintptr_t end, access_mode) {
      cut(begin);
      cut(end);
    });
    // If the task names a range by accesses of two kinds, they count as a write, as in the flow.
    named_.clear();
    each_row(accesses, [&](std::uintptr_t begin, std::uintptr_t end, access_mode mode) {
      for (auto at = ranges_.find(begin); at->first != end; ++at) {
        range& each = at->second;
        if (std::exchange(each.named_by, task) != task) {
          each.named_as = mode;
          named_.push_back(&each);
        } else if (each.named_as != mode) {
          each.named_as = access_mode::write;
        }
      }
    });
    for (auto* const each : named_) join(*each, task);
  }

 private:
  // It reaches to the next range.
  struct range {
    access_mode mode = access_mode::write;  // of the last group
    bool open = false;                      // The last group takes members.
    std::size_t last = none;    // Later tasks wait for this node: a writer, or the end of a group.
    std::size_t before = none;  // The last group waits for this node.
    std::size_t named_by = none;
    access_mode named_as = access_mode::write;
  };

  template <class Visit>
  static void each_row(const std::vector<access>& accesses, Visit visit) {
    for (const auto& each : accesses)
      for (std::size_t row = 0; each.bytes != 0 && row < each.rows; ++row) {
        const auto begin = reinterpret_cast<std::uintptr_t>(each.first) + row * each.stride;
        visit(begin, begin + each.bytes, each.mode);
      }
  }
  // A range begins at `at`. Both parts of a range that is cut have the same last group, which takes no member
  // any more.
  void cut(std::uintptr_t at) {
    const auto after = ranges_.upper_bound(at);
    if (after == ranges_.begin()) {
      ranges_.emplace_hint(after, at, range());
    } else if (const auto left = std::prev(after); left->first != at) {
      left->second.open = false;
      ranges_.emplace_hint(after, at, left->second);
    }
  }
  void join(range& at, std::size_t task) {
    const bool shares = at.named_as == access_mode::in || at.named_as == access_mode::concurrent;
    const bool goes_on = shares && at.mode == at.named_as && at.last != none;
    if (!goes_on) at.before = at.last;
    if (!shares) {
      at.last = task;
    } else if (!goes_on || !at.open) {
      const std::size_t end = found_.nodes++;
      if (goes_on) add_wait(at.last, end);
      at.last = end;
    }
    at.mode = at.named_as;
    at.open = shares;
    if (shares) add_wait(task, at.last);
    if (at.before != none) add_wait(at.before, task);
  }
  // The waits within the next iteration are those within this one.
  void add_wait(std::size_t from, std::size_t to) {
    if (from < found_.tasks || from >= 2 * found_.tasks) found_.waits.push_back({from, to});
  }

  recorded_waits& found_;
  std::map<std::uintptr_t, range> ranges_;
  std::vector<range*> named_;  // by the task that is added
};

// Of the tasks in each list, keeps the first one only, or the last one. A list runs in order.
void keep_one_of_each_list(std::vector<replay_task>& all, bool last) {
  std::ranges::sort(all, {}, [last](const replay_task& each) {
    return std::pair(each.worker, last ? ~each.index : each.index);
  });
  const auto rest = std::ranges::unique(all, {}, &replay_task::worker);
  all.erase(rest.begin(), rest.end());
}

}  // namespace

recorded_waits::recorded_waits(const std::vector<flow_record>& made)
    : tasks(made.size()), nodes(2 * made.size()) {
  dependences all(*this);
  for (std::size_t i = 0; i < 2 * tasks; ++i) all.add(i, made[i % tasks].accesses);
}

std::vector<std::size_t> recorded_waits::ranks(std::vector<std::uint64_t> begun) const {
  begun.resize(nodes);  // an end comes at once
  std::vector<std::vector<std::size_t>> followers(nodes);
  std::vector<std::size_t> missing(nodes);
  for (const auto& each : waits) {
    if (each.to >= tasks && each.to < 2 * tasks) continue;
    followers[each.from].push_back(each.to);
    ++missing[each.to];
  }
  const auto later = [&](std::size_t a, std::size_t b) { return begun[a] > begun[b]; };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> ready(later);
  for (std::size_t i = 0; i < nodes; ++i)
    if (missing[i] == 0) ready.push(i);
  std::vector<std::size_t> ranks(nodes);
  for (std::size_t rank = 0; !ready.empty(); ++rank) {
    const auto next = ready.top();
    ready.pop();
    ranks[next] = rank;
    for (const auto each : followers[next])
      if (--missing[each] == 0) ready.push(each);
  }
  return ranks;
}

std::vector<replay_edge> recorded_waits::edges(const std::vector<std::vector<replay_task>>& places) const {
  std::vector<replay_edge> all;
  const auto connect = [&all](const auto& from, const auto& to, bool into_next_iteration) {
    for (const auto& a : from)
      for (const auto& b : to) all.push_back({a, b, into_next_iteration});
  };
  const auto append = [](std::vector<replay_task>& to, const std::vector<replay_task>& what) {
    to.insert(to.end(), what.begin(), what.end());
  };
  struct group {
    std::vector<replay_task> members;
    std::vector<replay_task> followers[2];  // of this iteration, and of the next
  };
  std::vector<group> groups(nodes - 2 * tasks);
  const auto group_of = [&](std::size_t node) {
    return node < 2 * tasks ? nullptr : &groups[node - 2 * tasks];
  };
  for (const auto& [from, to] : waits) {
    group* const of = group_of(from);
    if (of != nullptr) keep_one_of_each_list(of->members, true);
    const auto& what = of != nullptr ? of->members : places[from];
    if (group* const end = group_of(to)) {
      append(end->members, what);
    } else if (of != nullptr) {
      append(of->followers[to / tasks], places[to % tasks]);
    } else {
      connect(what, places[to % tasks], to >= tasks);
    }
  }
  for (auto& each : groups)
    for (const bool next : {false, true}) {
      keep_one_of_each_list(each.followers[next ? 1 : 0], false);
      connect(each.members, each.followers[next ? 1 : 0], next);
    }
  return all;
}

}  // namespace teff::detail
