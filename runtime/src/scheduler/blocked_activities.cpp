#include "scheduler/blocked_activities.hpp"

#include "platform/process_wide.hpp"
#include "scheduler/worker.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace teff::detail {

namespace {

struct blocked_activity {
  const blocked_activities* noted_by;
  const void* activity;
  awaited_thing awaited;
};

// Of all runtimes of the process.
struct blocked_list {
  std::vector<blocked_activity> each;
  void begin_child() noexcept { each.clear(); }
};
using noted_list = process_wide<blocked_list>;

// The activities that can't end before the calling thread has gone on: those on its stack; of a stolen task,
// those on the stack of its victim, since what it belongs to may lie on others there; and so on.
class activities_below {
 public:
  activities_below() {
    if (auto* const me = worker::current()) add(me->activities().all());
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      const auto [of, first, end] = stretches_[i];
      of->each(first, end, [this](const enclosing_activity& each) {
        if (each.victims.count == 0) {
          names_.push_back(each.of);
        } else {
          add(each.victims);  // it is the innermost of these
        }
      });
    }
    // A thread that is no worker has frames, too. An observed body is not what others wait for by the name of
    // its source.
    for (const frame* each = self.frame; each != nullptr; each = each->outer) {
      if (each->of != nullptr && each->observer == nullptr &&
          std::ranges::find(names_, each->of) == names_.end())
        names_.push_back(each->of);
    }
  }
  [[nodiscard]] const std::vector<const void*>& names() const noexcept { return names_; }

 private:
  struct stretch {
    const activities* of;
    std::size_t first;
    std::size_t end;
  };

  // Adds the activities that have not been added.
  void add(outer_activities those) {
    std::size_t first = 0;
    for (const auto& each : stretches_) {
      if (each.of == those.of) first = std::max(first, each.end);
    }
    if (first < those.count) stretches_.push_back({those.of, first, those.count});
  }

  std::vector<const void*> names_;
  std::vector<stretch> stretches_;
};

// Looks whether something can end before some activities do: a walk from it to what that needs, and so on. A
// request that runs or waits for a worker needs nothing. An activity that is noted to wait needs the awaited
// thing. An outcome that is made of others needs all of them, or one. A gang needs the gang at work, if that
// is another one: a gang that is not in the queue yet comes behind that, too.
class search {
 public:
  explicit search(const std::vector<const void*>& mine) : mine_(mine) {}
  // Without the list's lock: an outcome may be destroyed now.
  ~search() {
    for (auto* const each : held_) each->drop();
  }
  search(const search&) = delete;
  search& operator=(const search&) = delete;

  // With the list's lock. Where it would have to look at very many things, it takes them to end.
  [[nodiscard]] bool can_end(const awaited_thing& what, const std::vector<blocked_activity>& noted) {
    constexpr std::size_t most = 10'000;
    static_cast<void>(place_of(what));
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_.size() > most) return true;
      look_at(i, noted);
    }
    // A thing that only goes round in a circle does not end.
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = nodes_.size(); i-- != 0;) {
        if (nodes_[i].ends || !would_end(nodes_[i])) continue;
        nodes_[i].ends = changed = true;
      }
    }
    return nodes_[0].ends;
  }
  // With the list's lock. The waits for room that it has taken to end, since their threads can go on.
  void give_up_waits_for_room() const noexcept {
    for (const auto* const each : for_room_) {
      each->noted_by->give_up();
      each->awaited.for_room->wake();
    }
  }

 private:
  struct node {
    awaited_thing what;
    std::vector<std::size_t> needs{};
    bool one_suffices = false;
    bool is_mine = false;
    bool ends = false;
  };

  std::size_t place_of(const awaited_thing& what) {
    const auto [at, is_new] = places_.emplace(what.name, nodes_.size());
    if (is_new) nodes_.push_back({what});
    return at->second;
  }

  void look_at(std::size_t at, const std::vector<blocked_activity>& noted) {
    const auto [name, outcome, turns, for_room] = nodes_[at].what;
    nodes_[at].is_mine = std::ranges::find(mine_, name) != mine_.end();
    if (nodes_[at].is_mine || (outcome != nullptr && outcome->is_there())) return;
    const auto need = [&](const awaited_thing& what) {
      const auto place = place_of(what);  // which may move the nodes
      nodes_[at].needs.push_back(place);
    };
    for (const auto& each : noted) {
      if (each.activity != name) continue;
      each.awaited.for_room == nullptr ? need(each.awaited) : for_room_.push_back(&each);
    }
    if (turns != nullptr) {
      if (const job* const at_work = turns->oldest(); at_work != nullptr && at_work != name) need({at_work});
    }
    if (outcome == nullptr) return;
    const auto causes = outcome->made_of();
    held_.insert(held_.end(), causes.each.begin(), causes.each.end());
    nodes_[at].one_suffices = causes.one_suffices;
    for (auto* const each : causes.each) need({each, each});
  }

  [[nodiscard]] bool would_end(const node& each) const {
    if (each.is_mine) return false;
    const auto ends = [this](std::size_t needed) { return nodes_[needed].ends; };
    return each.one_suffices ? std::ranges::any_of(each.needs, ends) : std::ranges::all_of(each.needs, ends);
  }

  const std::vector<const void*>& mine_;
  std::vector<node> nodes_;
  std::unordered_map<const void*, std::size_t> places_;
  std::vector<made_of_others*> held_;
  std::vector<const blocked_activity*> for_room_;
};

}  // namespace

blocked_activities::blocked_activities(const awaited_thing& awaited) {
  const activities_below below;
  const auto& mine = below.names();
  any_ = !mine.empty();
  if (!any_) return;
  search walk(mine);
  noted_list::with([&](blocked_list& all) {
    for_ever_ = !walk.can_end(awaited, all.each);
    walk.give_up_waits_for_room();
    if (for_ever_) return;
    for (const auto* const each : mine) all.each.push_back({this, each, awaited});
  });
}

blocked_activities::~blocked_activities() {
  if (!any_) return;
  noted_list::with([this](blocked_list& all) {
    std::erase_if(all.each, [this](const blocked_activity& each) { return each.noted_by == this; });
  });
}

}  // namespace teff::detail
