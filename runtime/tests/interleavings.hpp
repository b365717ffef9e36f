// A small model checker: runs the real code of a lock-free algorithm on its interleavings.
//
// A program under test is a few threads (fibers here) that use `checked::atomic`. Every access is a step.
// Before each step, any thread may go on. The checker runs the program again and again, and takes another
// branch each time. It takes all branches with at most `preemptions` switches away from a thread that could
// have gone on, since most faults need few of them (Musuvathi & Qadeer, 2007). It models weak memory so:
//
// - Stores are delayed. Every thread has a first-in-first-out store buffer (x86-TSO). Read-modify-writes,
//   seq_cst stores and barrier() flush it. Otherwise the checker may make its oldest store visible at any
//   time. So a thread may load before its own earlier store is visible, as on the hardware.
// - Vector clocks track happens-before over acquire and release. Two accesses to `checked::plain` data that
//   it does not order are a data race. So the checker finds a missing release or acquire even if x86
//   forgives it.
//
// It does not model relaxed stores of one thread that overtake each other, nor loads of values older than the
// store buffers explain.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace teff::checked {

inline constexpr int most_threads = 4;
using vector_clock = std::array<std::uint32_t, most_threads>;

// A fault of the program under test.
struct fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class checker {
 public:
  struct outcome {
    std::uint64_t runs = 0;
    bool complete = false;  // all branches were taken
    std::string fault;      // empty: none
  };

  // Runs the threads that `make()` returns on all interleavings with at most `preemptions` preemptions, but
  // at most `most_runs` of them. The last function of the program runs alone when the threads have ended.
  using program = std::vector<std::function<void()>>;
  static outcome check(const std::function<program()>& make, int preemptions, std::uint64_t most_runs);

  // ---- For the stand-ins below, called by the thread that runs ----

  static checker& now() { return *active_; }
  [[nodiscard]] int self() const { return running_; }
  // Whether a thread of the program runs: it is neither made nor destroyed.
  static bool runs() { return active_ != nullptr && active_->running_ >= 0; }
  vector_clock& clock() { return threads_[static_cast<std::size_t>(running_)].clock; }

  // Another thread may run before the next access.
  void step();
  // Sleeps until `ready()`; a deadlock is a fault.
  void wait_until(const std::function<bool()>& ready);
  // In a loop that spins: sleeps until another thread has gone on or a delayed store has become visible.
  void pause();

  void buffer_store(std::function<void()> make_visible) {
    threads_[static_cast<std::size_t>(running_)].stores.push_back(std::move(make_visible));
  }
  void flush(int thread) {
    auto& stores = threads_[static_cast<std::size_t>(thread)].stores;
    while (!stores.empty()) flush_one(thread);
  }
  void flush_everyone() {
    for (int i = 0; i < static_cast<int>(threads_.size()); ++i) flush(i);
  }
  // Ends the run. The calling thread stays where it is, as the others do, so noexcept functions may call
  // this.
  [[noreturn]] static void fail(const std::string& what);

 private:
  // The state of exceptions that the C++ runtime library keeps for a thread (Itanium C++ ABI, 2.2.2,
  // __cxa_eh_globals).
  struct exceptions {
    void* caught;
    unsigned uncaught;
  };
  struct fiber {
    ucontext_t start{};
    std::jmp_buf here{};
    bool started = false;
    exceptions held{};
  };
  struct thread : fiber {
    std::function<void()> body;
    std::unique_ptr<char[]> stack;
    vector_clock clock{};
    std::deque<std::function<void()>> stores;
    std::function<bool()> ready;  // set while it waits
    bool ended = false;
  };
  struct choice {
    int taken;
    int options;
  };

  void make_fibers(std::size_t count);
  void run_once(program& bodies);
  int next_thread();
  void go_on();
  fiber& fiber_of(int i) { return i < 0 ? main_ : threads_[static_cast<std::size_t>(i)]; }
  void switch_to(int next);
  [[noreturn]] static void resume(fiber& to);
  int choose(int options);
  void flush_one(int thread) {
    auto& stores = threads_[static_cast<std::size_t>(thread)].stores;
    auto make_visible = std::move(stores.front());
    stores.pop_front();
    make_visible();
  }
  static void enter();

  static inline checker* active_ = nullptr;
  static constexpr std::size_t stack_bytes = 64 * 1024;

  std::vector<thread> threads_;
  fiber main_{.started = true};
  int running_ = -1;
  int preemptions_left_ = 0;
  std::uint64_t moves_ = 0;  // of any thread, and of stores that become visible
  std::vector<choice> path_;
  std::size_t position_ = 0;
  std::string fault_;
};

// Expects that there was no fault, and that the checker ran all interleavings, more than `more_than`.
void expect_no_fault(const checker::outcome& outcome, std::uint64_t more_than = 100);

inline constexpr std::uint64_t most_interleavings = 3'000'000;

// Runs these threads over one world, and then look(world) alone. Each interleaving has a new world.
template <class World>
checker::outcome check_threads(const std::function<std::shared_ptr<World>()>& make,
                               const std::vector<std::function<void(World&)>>& threads,
                               const std::function<void(World&)>& look, int preemptions) {
  return checker::check(
      [&]() -> checker::program {
        const auto shared = make();
        checker::program program;
        for (const auto& body : threads) program.emplace_back([shared, &body] { body(*shared); });
        program.emplace_back([shared, &look] { look(*shared); });
        return program;
      },
      preemptions, most_interleavings);
}

// A fault that the checker must find: none, or operations that only release or acquire do not.
enum class weakness { none, no_release, no_acquire };

// std::atomic for the program under test.
template <class T, weakness Weak>
class weak_atomic {
 public:
  constexpr weak_atomic() noexcept : value_{} {}
  constexpr weak_atomic(T value) noexcept : value_(value) {}
  weak_atomic(const weak_atomic&) = delete;
  weak_atomic& operator=(const weak_atomic&) = delete;
  // Memory that is freed is no place for a store that was delayed.
  ~weak_atomic() {
    if (!pending_.empty() && checker::runs()) checker::now().flush_everyone();
  }

  T load(std::memory_order order = std::memory_order_seq_cst) const {
    if (!checker::runs()) return value_;
    auto& here = checker::now();
    here.step();
    for (auto own = pending_.rbegin(); own != pending_.rend(); ++own) {
      if (own->thread == here.self()) return own->value;  // from the own store buffer
    }
    if (acquires(order)) join(here.clock(), released_);
    return value_;
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    if (!checker::runs()) {
      value_ = value;
      return;
    }
    auto& here = checker::now();
    // A delayed store is no step: no other thread sees it yet, so the others may as well run after it.
    if (order == std::memory_order_seq_cst) here.step();
    const auto released = releases(order) ? here.clock() : vector_clock{};
    tick();
    const int self = here.self();
    pending_.push_back({self, value});
    here.buffer_store([this, self, value, released] {
      // Stores of one thread become visible in their order: this is its oldest.
      pending_.erase(
          std::find_if(pending_.begin(), pending_.end(), [&](auto& own) { return own.thread == self; }));
      value_ = value;
      released_ = released;
    });
    if (order == std::memory_order_seq_cst) here.flush(here.self());
  }
  // The value that is visible now. This is no step: wait_until() calls it.
  T peek() const { return value_; }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
    return modify([&](T) { return value; }, order);
  }
  T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) {
    return modify([&](T old) { return static_cast<T>(old + value); }, order);
  }
  T fetch_sub(T value, std::memory_order order = std::memory_order_seq_cst) {
    return modify([&](T old) { return static_cast<T>(old - value); }, order);
  }
  T fetch_or(T value, std::memory_order order = std::memory_order_seq_cst) {
    return modify([&](T old) { return static_cast<T>(old | value); }, order);
  }
  T fetch_and(T value, std::memory_order order = std::memory_order_seq_cst) {
    return modify([&](T old) { return static_cast<T>(old & value); }, order);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order, std::memory_order) {
    return compare_exchange_strong(expected, desired, order);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order order, std::memory_order) {
    return compare_exchange_strong(expected, desired, order);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst) {
    bool exchanged = false;
    expected = modify(
        [&](T old) {
          exchanged = old == expected;
          return exchanged ? desired : old;
        },
        order);
    return exchanged;
  }

 private:
  struct pending_store {
    int thread;
    T value;
  };
  static bool acquires(std::memory_order order) {
    if (order == std::memory_order_seq_cst) return true;
    return Weak != weakness::no_acquire && order != std::memory_order_relaxed &&
           order != std::memory_order_release;
  }
  static bool releases(std::memory_order order) {
    if (order == std::memory_order_seq_cst) return true;
    return Weak != weakness::no_release && order != std::memory_order_relaxed &&
           order != std::memory_order_acquire;
  }
  static void join(vector_clock& into, const vector_clock& other) {
    for (std::size_t i = 0; i < other.size(); ++i) into[i] = std::max(into[i], other[i]);
  }
  static void tick() { ++checker::now().clock()[static_cast<std::size_t>(checker::now().self())]; }

  template <class Change>
  T modify(Change change, std::memory_order order) {
    auto& here = checker::now();
    here.step();
    here.flush(here.self());
    const T old = value_;
    const T changed = change(old);
    if (acquires(order)) join(here.clock(), released_);
    value_ = changed;
    // A read-modify-write continues the release sequence, so it keeps earlier releases.
    if (releases(order)) join(released_, here.clock());
    tick();
    return old;
  }

  T value_;
  vector_clock released_{};
  std::vector<pending_store> pending_;  // oldest first
};
template <class T>
using atomic = weak_atomic<T, weakness::none>;
template <class T>
using without_release = weak_atomic<T, weakness::no_release>;
template <class T>
using without_acquire = weak_atomic<T, weakness::no_acquire>;

// Data that are not atomic: happens-before must order the accesses of two threads.
class plain {
 public:
  void write(int value) {
    access();
    value_ = value;
  }
  int read() {
    access();
    return value_;
  }

 private:
  void access() {
    auto& here = checker::now();
    const auto self = static_cast<std::size_t>(here.self());
    for (std::size_t other = 0; other < last_.size(); ++other) {
      if (other != self && last_[other] > here.clock()[other]) checker::fail("data race");
    }
    last_[self] = ++here.clock()[self];
  }
  int value_ = 0;
  vector_clock last_{};  // when each thread accessed it last, by that thread's clock
};

// The lifetime of an object: all uses of it must happen before its end.
class lifetime {
 public:
  void use() {
    auto& here = checker::now();
    const auto self = static_cast<std::size_t>(here.self());
    last_[self] = ++here.clock()[self];
  }
  void end() const {
    const auto& here = checker::now().clock();
    for (std::size_t i = 0; i < last_.size(); ++i) {
      if (last_[i] > here[i]) checker::fail("used while its life ends");
    }
  }

 private:
  vector_clock last_{};  // when each thread used it last, by that thread's clock
};

// A full fence on every thread (membarrier).
inline void barrier_everywhere() {
  checker::now().step();
  checker::now().flush_everyone();
}

// A futex: a sleeper needs a wake that comes after it went to sleep.
struct futex {
  template <class T>
  using atomic = checked::atomic<T>;
  using time = int;
  static constexpr time never = std::numeric_limits<time>::max();
  static inline std::map<const void*, int> wakes;
  static inline time clock = 0;

  static void wait(const atomic<std::uint32_t>& word, std::uint32_t expected) {
    checker::now().step();
    checker::now().flush(checker::now().self());
    if (word.peek() != expected) return;
    const int before = wakes[&word];
    checker::now().wait_until([&word, before] { return wakes[&word] != before; });
  }
  // Another word to sleep on, as long as it is `quiet`; null: none.
  struct bells {
    const atomic<std::uint32_t>* word;
    std::uint32_t quiet;
  };
  // Returns false if the time has come or the bell was rung.
  static bool wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected, time deadline,
                         const bells& also = {}) {
    checker::now().step();
    checker::now().flush(checker::now().self());
    if (word.peek() != expected) return true;
    if (also.word != nullptr && also.word->peek() != also.quiet) return false;
    const int before = wakes[&word];
    const int rung_before = wakes[also.word];
    checker::now().wait_until([&word, before, deadline, bell = also.word, rung_before] {
      return wakes[&word] != before || wakes[bell] != rung_before || clock >= deadline;
    });
    return wakes[&word] != before;
  }
  static void wake_all(const atomic<std::uint32_t>& word) { wake(word); }
  static void wake(const atomic<std::uint32_t>& word) {
    checker::now().step();
    checker::now().flush(checker::now().self());
    ++wakes[&word];
  }
  static void set_clock(time now) {
    checker::now().step();
    clock = now;
  }
};

}  // namespace teff::checked
