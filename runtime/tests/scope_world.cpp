#include "scope_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace teff::test {

void task_slot::thiefs_word::store(std::uint32_t value, std::memory_order order) {
  const bool careless = world::seeded == fault::moves_out_without_release && value == slot_state::moved_out;
  weak_atomic::store(value, careless ? std::memory_order_relaxed : order);
}

// ---- Parts of a scope ----

template <class T>
checked_worker::atomic<T>::atomic(T value) : base(value) {
  world::now().lives[this] = {};
}

template <class T>
checked_worker::atomic<T>::~atomic() {
  auto& lives = world::now().lives;
  const auto own = lives.find(this);
  own->second.end();
  lives.erase(own);
}

template <class T>
void checked_worker::atomic<T>::use() const {
  const auto own = world::now().lives.find(this);
  if (own == world::now().lives.end()) checker::fail("a scope was used after its end");
  own->second.use();
}

template <class T>
bool checked_worker::atomic<T>::lies_in(const scope_state* of) const {
  const auto offset = reinterpret_cast<std::uintptr_t>(this) - reinterpret_cast<std::uintptr_t>(of);
  return offset < sizeof *of;
}

template <class T>
T checked_worker::atomic<T>::load(std::memory_order order) const {
  use();
  return base::load(order);
}

template <class T>
T checked_worker::atomic<T>::fetch_add(T value, std::memory_order order) {
  use();
  if (world::seeded == fault::counts_after_push && !lies_in(own().innermost)) {
    own().late = [this, value, order] { base::fetch_add(value, order); };
    return 0;
  }
  return base::fetch_add(value, order);
}

template <class T>
T checked_worker::atomic<T>::fetch_sub(T value, std::memory_order order) {
  use();
  // Only a push that failed takes its count back with this order.
  if (world::seeded == fault::counts_what_was_not_pushed && order == std::memory_order_relaxed) return 0;
  world::most_told = std::max(world::most_told, static_cast<int>(value));
  const bool careless = world::seeded == fault::ends_without_release;
  return base::fetch_sub(value, careless ? std::memory_order_relaxed : order);
}

template <class T>
T checked_worker::atomic<T>::fetch_or(T value, std::memory_order order) {
  use();
  const T before = base::fetch_or(value, order);
  return world::seeded == fault::each_failure_is_the_first ? T{0} : before;
}

template <class T>
T checked_worker::atomic<T>::fetch_and(T value, std::memory_order order) {
  use();
  return base::fetch_and(value, order);
}

template class checked_worker::atomic<std::int64_t>;
template class checked_worker::atomic<std::uint8_t>;

// ---- Workers ----

local_deque& checked_worker::own() {
  return world::now().deques.at(world::me());
}

// In tests with a sleeping owner, the owner is worker 0.
void checked_worker::wake_owner(const task_slot*) {
  if (world::now().sleeps) world::now().gate.wake(0);
}

void checked_worker::ended_on_thief(scope_state& of) {
  world::now().stolen_by(world::me()).ended(of);
}

void checked_worker::wait_for_tasks(const atomic<std::int64_t>& pending) {
  auto& all = world::now();
  const auto done = [&pending] { return pending.load(std::memory_order_seq_cst) == 0; };
  if (all.looks > 0 && !done()) all.look_for_work(all.victims, all.looks);
  while (!done()) {
    if (all.sleeps) {
      all.gate.start_search();
      static_cast<void>(all.gate.prepare_sleep(0, detail::wake_for::work));
      if (done()) {
        all.gate.cancel_sleep(0, detail::wake_for::work);
      } else {
        all.gate.sleep(0);
      }
      static_cast<void>(all.gate.stop_search());
    } else {
      checker::now().wait_until([&pending] { return pending.peek() == 0; });
    }
  }
}

bool world::steal_from(int victim) {
  auto* const at = deques[static_cast<std::size_t>(victim)].steal();
  if (at == nullptr) return false;
  at->state.store(slot_state::first_thief, std::memory_order_relaxed);
  stolen_by(me()).run(*at);
  return true;
}

void world::look_for_work(const std::vector<int>& at, int often) {
  for (const int victim : at) {
    auto& deque = deques[static_cast<std::size_t>(victim)];
    for (int look = 0; look < often; ++look) {
      if (steal_from(victim)) continue;
      if (seeded != fault::does_not_tell) stolen_by(me()).tell();
      deque.ask();
      if (deque.expose(checked::barrier_everywhere)) steal_from(victim);
    }
  }
  if (seeded != fault::does_not_tell) stolen_by(me()).tell();
}

// ---- Tasks ----

void scope::spawn(int task) {
  basic_scope::spawn(numbered(task));
}

int scope::wait_for_failure() {
  auto& all = world::now();
  int found = nobody;
  try {
    wait();
  } catch (const failure& arrived) {
    found = arrived.task;
  }
  if (found == nobody ? !all.thrown.empty() : std::ranges::count(all.thrown, found) != 1)
    checker::fail("not a task's failure arrived");
  if (std::ranges::count(all.thrown_late, found) != 0) checker::fail("not the first failure arrived");
  all.thrown.clear();
  all.thrown_late.clear();
  return found;
}

void world::run(int task) {
  const auto number = static_cast<std::size_t>(task);
  ++begun[number];
  if (tasks[number]) tasks[number](*this);
}

void world::end(int task) {
  const auto number = static_cast<std::size_t>(task);
  ++ended[number];
  over[number].write(1);
}

void world::access(const void* place) {
  const auto first = reinterpret_cast<std::uintptr_t>(slots.data());
  const auto offset = reinterpret_cast<std::uintptr_t>(place) - first;
  if (offset >= sizeof slots) return;
  const auto number = offset / sizeof(task_slot);
  slots[number / slots[0].size()][number % slots[0].size()].content.write(1);
}

checker::outcome check(const std::vector<world::task>& tasks, const threads& bodies, const options& how) {
  return checked::check_threads<world>(
      [&] {
        auto all = std::make_shared<world>(tasks, how.window);
        all->victims = how.victims;
        all->looks = how.looks;
        all->sleeps = how.sleeps;
        return all;
      },
      bodies,
      [&how](world& all) {
        int dropped = 0;
        for (std::size_t task = 0; task < all.tasks.size(); ++task) {
          if (all.ended[task] != 1 || all.begun[task] > 1) checker::fail("a task did not end exactly once");
          if (all.begun[task] == 0) ++dropped;
        }
        if (dropped != 0 && !how.drops) checker::fail("a task was dropped");
        world::most_dropped = std::max(world::most_dropped, dropped);
        if (failure::alive != 0) checker::fail("a failure was kept");
      },
      how.preemptions);
}

std::function<void(world&)> owner_of(int count, int all) {
  return [=](world& w) {
    scope own;
    w.shared = &own;
    for (int task = 0; task < count; ++task) own.spawn(task);
    own.wait();
    for (int task = 0; task < all; ++task) w.expect_ended(task);
  };
}

std::function<void(world&)> thief_of(std::vector<int> victims, int looks) {
  return [=](world& w) { w.look_for_work(victims, looks); };
}

world::task spawns(int task) {
  return [task](world& w) { w.shared->spawn(task); };
}

}  // namespace teff::test
