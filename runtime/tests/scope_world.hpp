// The checker's stand-ins for all that a scope's code uses: workers, numbered tasks, and faults.
#pragma once

#include <teff/detail/fork_join/scope_state.hpp>

#include "fork_join/stolen_tasks.hpp"
#include "interleavings.hpp"
#include "scheduler/idle_gate.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace teff::test {

using checked::checker;
using checked::futex;
using checked::plain;
namespace slot_state = detail::slot_state;

struct scope_state;
struct world;

// The faults that tests put into the code.
enum class fault {
  none,
  counts_after_push,
  counts_what_was_not_pushed,
  ends_without_release,
  moves_out_without_release,
  does_not_tell,
  each_failure_is_the_first
};

// Stands in for detail::task_slot.
struct task_slot {
  struct thiefs_word : checked::atomic<std::uint32_t> {
    void store(std::uint32_t value, std::memory_order order);
  };
  void (*run)(task_slot&, const scope_state* by) = nullptr;
  thiefs_word state;
  plain content;  // of `data`
  alignas(16) std::byte data[sizeof(detail::task_slot::data)];
};

struct local_deque : detail::split_deque<task_slot, checked::atomic> {
  task_slot* scope_limit = nullptr;
  scope_state* innermost = nullptr;
  std::function<void()> late;  // an action that a fault delays until after the push
  void push(task_slot* at) {
    split_deque::push(at);
    if (late) std::exchange(late, nullptr)();
  }
};

// Stands in for calling_worker and worker_steal.cpp. All other code is the runtime's own.
struct checked_worker {
  using slot = test::task_slot;
  using scope = scope_state;
  struct outside {  // every thread of the checker is a worker
    bool spawn(const scope*, const auto&) { return false; }
    void wait() {}
  };
  // A part of a scope, which no thread may use when the scope has ended.
  template <class T>
  class atomic;
  template <class T>
  class plain;

  static local_deque& own();
  static scope* scope_of(task_slot& at) {
    static_cast<void>(at.content.read());
    return detail::stored<scope*>(at);
  }
  static bool take_back(task_slot* at) {
    if (!own().retake(at)) return false;
    answer_thieves();
    return true;
  }
  static void share() {
    if (own().asked_to_share()) own().share();
  }
  static void answer_request() { answer_thieves(); }
  static bool answer_holding(task_slot* at) {
    answer_thieves();
    own().push(at);
    return own().take(at) || take_back(at);
  }
  static void answer_thieves() {
    if (!own().asked_to_share()) return;
    if (!own().share() && own().has_public()) own().withdraw();
  }
  static void wake_owner(const task_slot* at);
  static void ended_on_thief(scope& of);
  static void wait_for_tasks(const atomic<std::int64_t>& pending);
  static void yield() { checker::now().pause(); }
};

template <class T>
class checked_worker::atomic : checked::atomic<T> {
  using base = checked::atomic<T>;

 public:
  explicit atomic(T value);
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  ~atomic();

  T load(std::memory_order order) const;
  T fetch_add(T value, std::memory_order order);
  T fetch_sub(T value, std::memory_order order);
  T fetch_or(T value, std::memory_order order);
  T fetch_and(T value, std::memory_order order);
  using base::peek;

 private:
  void use() const;
  [[nodiscard]] bool lies_in(const scope_state* of) const;
};

template <class T>
class checked_worker::plain {
 public:
  plain() = default;
  plain(plain&& from) noexcept {
    from.accessed_.write(0);
    value_ = std::move(from.value_);
  }
  plain& operator=(T value) {
    accessed_.write(0);
    value_ = std::move(value);
    return *this;
  }
  ~plain() { accessed_.write(0); }
  operator T() && { return std::move(value_); }

 private:
  checked::plain accessed_;
  T value_{};
};

struct scope_state : detail::basic_scope<checked_worker> {};

// The exception of a task.
struct failure {
  explicit failure(int thrower) : task(thrower) { ++alive; }
  failure(const failure& other) : task(other.task) { ++alive; }
  failure& operator=(const failure&) = delete;
  ~failure() { --alive; }
  int task;
  static inline int alive = 0;
};

// Stands in for teff::scope.
struct scope : scope_state {
  ~scope() noexcept(false) { close(exceptions_); }
  // Spawns one of the world's tasks.
  void spawn(int task);
  template <class Task>
  void spawn_as(Task task) {
    basic_scope::spawn(std::move(task));
  }
  using basic_scope::cancel;
  using basic_scope::cancelled;
  using basic_scope::wait;
  // Returns the task whose failure wait() throws, or `nobody`. Checks that the task threw it, and threw it
  // first.
  int wait_for_failure();
  static constexpr int nobody = -1;

 private:
  const unsigned exceptions_ = detail::exceptions_in_flight();
};

// The tasks, and a worker for each thread.
struct world {
  using task = std::function<void(world&)>;
  static constexpr std::size_t most_workers = 3;
  static constexpr std::size_t most_tasks = 4;

  world(std::vector<task> bodies, int window) : tasks(std::move(bodies)) {
    current = this;
    futex::wakes.clear();
    failure::alive = 0;
    for (std::size_t i = 0; i < deques.size(); ++i) {
      deques[i].open(slots[i].data());
      deques[i].scope_limit = slots[i].data() + window;
    }
  }

  static world& now() { return *current; }
  static std::size_t me() { return static_cast<std::size_t>(checker::now().self()); }

  // Does as worker::run_something() and run_stolen() do.
  bool steal_from(int victim);
  // Does as worker::work_until() does: looks at each victim so many times.
  void look_for_work(const std::vector<int>& victims, int looks);

  // A task begins. It may throw. The destructor of its closure calls end(), also if the task was dropped.
  void run(int task);
  void end(int task);
  // The owner calls this after the end of a scope. Checks that the task has ended or was dropped, and that
  // the owner sees it.
  void expect_ended(int task) {
    if (over[static_cast<std::size_t>(task)].read() != 1)
      checker::fail("the scope ended before task " + std::to_string(task));
  }
  // Records an access to this place, if it lies in a slot.
  void access(const void* place);

  static inline world* current = nullptr;
  static inline fault seeded = fault::none;
  static inline int most_told = 0;     // of how many tasks at once a scope was told, in some run
  static inline int most_dropped = 0;  // how many tasks were dropped, in some run

  std::array<std::array<task_slot, 4>, most_workers> slots;
  std::array<local_deque, most_workers> deques;
  std::array<detail::stolen_record<checked_worker::slot, checked_worker::scope>, most_workers> stolen;
  detail::stolen_tasks<checked_worker> stolen_by(std::size_t worker) {
    return detail::stolen_tasks<checked_worker>(stolen.at(worker));
  }
  std::vector<task> tasks;
  std::array<plain, most_tasks> over;
  std::array<int, most_tasks> begun{};
  std::array<int, most_tasks> ended{};
  scope* shared = nullptr;
  checked::atomic<int> flag{0};
  std::map<const void*, checked::lifetime> lives;  // of scopes' parts
  // Tasks whose failure has not arrived yet. The second list has the tasks that threw in a cancelled scope.
  std::vector<int> thrown;
  std::vector<int> thrown_late;
  // The victims of a worker that waits for its scope, and how often it looks at each.
  std::vector<int> victims;
  int looks = 0;
  bool sleeps = false;
  detail::idle_gate<futex> gate{most_workers};
};

// A task's closure.
class numbered {
 public:
  explicit numbered(int task) : task_(task) {}
  numbered(numbered&& from) noexcept : task_(std::exchange(from.task_, scope::nobody)) {
    world::now().access(&from);
    world::now().access(this);
  }
  numbered& operator=(numbered&&) = delete;
  ~numbered() {
    world::now().access(this);
    if (task_ != scope::nobody) world::now().end(task_);
  }
  void operator()() { world::now().run(task_); }

 private:
  int task_;
};

using threads = std::vector<std::function<void(world&)>>;

struct options {
  int window = 4;
  int preemptions = 2;
  std::vector<int> victims{};  // as world's, of all threads
  int looks = 0;
  bool sleeps = false;
  bool drops = false;  // tasks may be dropped
};

// Runs the threads. At the end each task must have run once, and no failure may be left.
checker::outcome check(const std::vector<world::task>& tasks, const threads& bodies, const options& how);

// Threads and tasks.
inline const world::task nothing = nullptr;
// Makes the stores of its worker visible, without the cost of a preemption.
inline const world::task fence = [](world& w) { w.flag.fetch_add(0); };
// Worker 0 spawns the first `count` tasks. At the end of its scope, `all` tasks must have ended.
std::function<void(world&)> owner_of(int count, int all);
std::function<void(world&)> thief_of(std::vector<int> victims, int looks);
world::task spawns(int task);

}  // namespace teff::test
