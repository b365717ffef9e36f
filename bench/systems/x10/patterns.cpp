// The functions of teff/spawn/foreign_patterns.hpp. X10 has its main program, in a thread that runs the
// requests of the bench's main program.
#include "patterns.hpp"

#include <Patterns.h>
#include <Patterns__Counts.h>
#include <Patterns__Node.h>
#include <x10aux/bootstrap.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace {

struct request {
  void (*body)(void*);
  void* context;
};

/// From the bench's thread to X10's. It lives as long as the program, whose end X10's thread does not see.
struct hand_over {
  std::mutex mutex;
  std::condition_variable changed;
  const request* asked = nullptr;
  std::int32_t workers = 0;  ///< that X10 has, once it has started
};
hand_over& desk = *new hand_over;

}  // namespace

void teff_x10::serve(x10_int workers) {
  std::unique_lock lock(desk.mutex);
  desk.workers = workers;
  desk.changed.notify_all();
  for (;;) {
    desk.changed.wait(lock, [] { return desk.asked != nullptr; });
    lock.unlock();
    ::Patterns::wakeAll();
    desk.asked->body(desk.asked->context);
    lock.lock();
    desk.asked = nullptr;
    desk.changed.notify_all();
  }
}

extern "C" {
std::int32_t teff_spawn_start(std::int32_t workers) {
  setenv("X10_NTHREADS", std::to_string(workers).c_str(), 1);
  std::thread([] {
    static char name[] = "x10";
    static char* words[] = {name, nullptr};
    ::x10aux::real_x10_main(1, words, &::Patterns::main);
  }).detach();
  std::unique_lock lock(desk.mutex);
  desk.changed.wait(lock, [] { return desk.workers > 0; });
  return desk.workers;
}

void teff_spawn_run(void (*body)(void*), void* context) {
  const request asked = {body, context};
  std::unique_lock lock(desk.mutex);
  desk.asked = &asked;
  desk.changed.notify_all();
  desk.changed.wait(lock, [] { return desk.asked == nullptr; });
}

void teff_spawn_serial(std::int64_t tasks) {
  ::Patterns::serial(tasks);
}
void teff_spawn_parallel(std::int64_t tasks) {
  ::Patterns::parallel(tasks);
}
std::int64_t teff_spawn_fibonacci_both(std::int32_t n) {
  return ::Patterns::fibonacciBoth(n);
}
std::int64_t teff_spawn_fibonacci_one(std::int32_t n) {
  return ::Patterns::fibonacciOne(n);
}
void teff_spawn_search_tree(const teff_spawn_tree* tree, const teff_spawn_node* from,
                            teff_spawn_counts* found) {
  const auto root = teff_x10::node<::Patterns__Node>(*from, teff_spawn_children(tree, from));
  const auto counts = ::Patterns::search(reinterpret_cast<x10_long>(tree), root);
  *found = {counts.FMGL(nodes), counts.FMGL(leaves), counts.FMGL(depth)};
}
}
