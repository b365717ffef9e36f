#include "seats.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include "file.hpp"

namespace teff::collect {

constinit thread_local seat* me = nullptr;
constinit bool only_samples = false;
constinit std::atomic<std::uint64_t> longest_unasked{~std::uint64_t{0}}, shortest_timed{0};

namespace {

std::atomic<seat*> all_seats{nullptr};
std::atomic<std::uint64_t> rate{0};           // ticks in 2^10 nanoseconds
seat* vacant;                                 // guarded by `growing`
constinit thread_local bool refused = false;  // a seat
block nowhere;  // accounts of a parent's threads in its child, and of the calibration
pthread_key_t at_thread_end;
bool has_key;

// Callers hold `growing`.
seat* new_seat(std::uint32_t thread) {
  void* memory = pages(sizeof(seat));
  if (memory == nullptr) return nullptr;
  auto* made = new (memory) seat;
  if (!made->arrive(thread)) return nullptr;
  made->next = all_seats.load(std::memory_order_relaxed);  // only threads that hold `growing` store to it
  all_seats.store(made, std::memory_order_release);        // pairs with first_seat()
  return made;
}

// When the thread ends. Its team's region may go on for a moment.
void leave_seat(void* left) {
  auto& seat_left = *static_cast<seat*>(left);
  me = nullptr;
  refused = true;
  const auto now = ticks();
  {
    const std::lock_guard held(seat_left.lock);
    if (seat_left.joined != nullptr) seat_left.end_worker(now, 0);
  }
  vacate(seat_left, now);
}

// Measures the clock's rate, and the collector's own part of a segment by empty chunks. Of several batches
// the least counts: any may be interrupted. Callers hold `growing`. Integers alone: the program
// may ask the processor whether a floating-point result was inexact.
void calibrate() {
  constexpr int batches = 20, chunks = 50;
  constexpr std::uint64_t too_short = 100;    // ns: of shorter ones, mostly the clock is measured
  constexpr std::uint64_t unasked = 300'000;  // ns: the question takes some 2000
  auto least = std::numeric_limits<std::uint64_t>::max();
  void* memory = pages(sizeof(seat));
  if (memory == nullptr) return;
  seat& scratch = *new (memory) seat;
  scratch.use(nowhere);
  activation chunk;
  scratch.current = &chunk;
  for (int i = 0; i < batches; ++i) {
    chunk.own = 0;
    std::uint64_t sum = 0;
    for (int j = 0; j < chunks; ++j) {
      scratch.begin_chunk(chunk, nullptr);
      scratch.end_chunk(chunk, nullptr);
      sum += chunk.own;
    }
    least = std::min(least, sum / chunks);
  }
  header& to = *head();
  to.own = least;
  const auto length = nanoseconds() - to.first.nanoseconds;
  // Relaxed: the numbers alone are used.
  rate.store(((ticks() - to.first.ticks) << 10) / std::max(length, std::uint64_t{1}),
             std::memory_order_relaxed);
  shortest_timed.store(least + ticks_of(too_short), std::memory_order_relaxed);
  longest_unasked.store(ticks_of(unasked), std::memory_order_relaxed);
}

// A child of fork has one thread and no file. It may be within a region: then its frames still use the seat
// that it had.
void begin_in_child() {
  // Relaxed: there is no other thread.
  for (seat* one = all_seats.load(std::memory_order_relaxed); one != nullptr; one = one->next) {
    one->use(nowhere);
    new (&one->lock) std::mutex;
  }
  all_seats.store(nullptr, std::memory_order_relaxed);
  vacant = nullptr;
  me = nullptr;
  refused = false;
}

// The thread that ends the process has a last segment, which may be long.
[[gnu::destructor]] void on_exit() {
  if (me != nullptr) me->enter(me->doing());
}

[[gnu::constructor]] void watch_forks() {
  pthread_atfork(nullptr, nullptr, begin_in_child);
}

}  // namespace

seat* seat_of(std::uint32_t thread) {
  const growing held;
  if (!open_file()) return nullptr;
  if (head()->own == 0) calibrate();
  if (!has_key && !only_samples) has_key = pthread_key_create(&at_thread_end, leave_seat) == 0;
  seat* found = vacant;
  if (found != nullptr && found->arrive(thread)) {
    vacant = found->next_vacant;
  } else {
    found = new_seat(thread);
  }
  if (found == nullptr) ++head()->lost_threads;
  return found;
}

seat* here() {
  if (me != nullptr || refused) return me;
  seat* found = only_samples ? nullptr : seat_of(static_cast<std::uint32_t>(gettid()));
  refused = found == nullptr;
  if (refused) return nullptr;
  if (has_key) pthread_setspecific(at_thread_end, found);
  return me = found;
}

seat* first_seat() {
  return all_seats.load(std::memory_order_acquire);  // pairs with new_seat()
}

std::uint64_t nanoseconds_without_core() {
  std::array<char, 64> text{};  // of the thread: nanoseconds on a core, nanoseconds without one, ...
  if (!read_text(AT_FDCWD, "/proc/thread-self/schedstat", text)) return 0;
  char* after = nullptr;
  std::strtoull(text.data(), &after, 10);
  return std::strtoull(after, nullptr, 10);
}

std::uint64_t ticks_of(std::uint64_t time) {
  return rate.load(std::memory_order_relaxed) * time >> 10;
}

std::uint64_t last_end_anywhere() {
  std::uint64_t latest = 0;
  // Relaxed: the numbers alone are used.
  for (const seat* one = first_seat(); one != nullptr; one = one->next) {
    latest = std::max(latest, one->last_end.load(std::memory_order_relaxed));
  }
  return latest;
}

void vacate(seat& left, std::uint64_t now) {
  const growing held;
  left.retire(now);
  left.next_vacant = vacant;
  vacant = &left;
}

bool is_long(std::uint64_t wait) {
  // Relaxed: the number alone is used. In a child of fork there is one thread.
  const auto seats = head() == nullptr ? 1 : std::atomic_ref(head()->seats).load(std::memory_order_relaxed);
  return wait > std::uint64_t{1000} * seats;
}

}  // namespace teff::collect

// For other collectors (README.md).
extern "C" [[gnu::visibility("default")]] std::uint32_t teff_collect_enter(std::uint32_t next) {
  using namespace teff::collect;
  seat* const thread = here();
  if (thread == nullptr || next >= static_cast<std::uint32_t>(state::count)) return 0;
  const state before = thread->doing();
  thread->enter(static_cast<state>(next));
  return static_cast<std::uint32_t>(before);
}
