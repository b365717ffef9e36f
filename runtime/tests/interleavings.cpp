#include "interleavings.hpp"

#include <cxxabi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

namespace teff::checked {

checker::outcome checker::check(const std::function<program()>& make, int preemptions,
                                std::uint64_t most_runs) {
  checker here;
  active_ = &here;
  outcome result;
  for (;;) {
    here.position_ = 0;
    here.running_ = -1;
    here.preemptions_left_ = preemptions;
    auto bodies = make();
    here.run_once(bodies);
    here.running_ = -1;
    ++result.runs;
    result.fault = here.fault_;
    // The next path: the last choice that has another option left.
    while (!here.path_.empty() && here.path_.back().taken + 1 == here.path_.back().options)
      here.path_.pop_back();
    result.complete = here.path_.empty();
    if (!result.fault.empty() || result.complete || result.runs == most_runs) break;
    ++here.path_.back().taken;
  }
  active_ = nullptr;
  return result;
}

void expect_no_fault(const checker::outcome& outcome, std::uint64_t more_than) {
  EXPECT_EQ(outcome.fault, "");
  EXPECT_TRUE(outcome.complete) << "stopped after " << outcome.runs << " interleavings";
  EXPECT_GT(outcome.runs, more_than);
  std::cout << outcome.runs << " interleavings\n";
}

int checker::choose(int options) {
  if (options == 1) return 0;
  if (position_ == path_.size()) path_.push_back({0, options});
  return path_[position_++].taken;
}

void checker::enter() {
  auto& here = *active_;
  for (auto& me = here.threads_[static_cast<std::size_t>(here.running_)];;) {
    me.body();
    me.ended = true;
    here.go_on();  // back in the next run
  }
}

void checker::fail(const std::string& what) {
  auto& here = now();
  if (here.threads_[static_cast<std::size_t>(here.running_)].ended) throw fault(what);  // the last function
  here.fault_ = what;
  here.switch_to(-1);
  std::abort();  // nobody goes back to it
}

void checker::make_fibers(std::size_t count) {
  threads_ = std::vector<thread>(count);
  for (auto& each : threads_) {
    each.stack = std::make_unique<char[]>(stack_bytes);
    getcontext(&each.start);
    each.start.uc_stack.ss_sp = each.stack.get();
    each.start.uc_stack.ss_size = stack_bytes;
    makecontext(&each.start, &checker::enter, 0);
  }
}

void checker::run_once(program& bodies) {
  fault_.clear();
  auto last = std::move(bodies.back());
  bodies.pop_back();
  if (threads_.empty()) make_fibers(bodies.size());
  for (auto& each : threads_) {
    const auto index = static_cast<std::size_t>(&each - threads_.data());
    each.body = std::move(bodies[index]);
    each.clock = {};
    each.clock[index] = 1;
    each.held = {};
    each.stores.clear();
    each.ready = nullptr;
    each.ended = false;
  }
  switch_to(next_thread());
  if (!fault_.empty()) return;
  // The threads have ended. All that they did is visible to the last function, and happened before it.
  flush_everyone();
  running_ = 0;
  for (const auto& each : threads_) {
    for (std::size_t i = 0; i < each.clock.size(); ++i) clock()[i] = std::max(clock()[i], each.clock[i]);
  }
  threads_[0].ended = true;
  try {
    last();
  } catch (const fault& found) {
    fault_ = found.what();
  }
}

// Decides which thread does the next access, and which delayed stores become visible before it. Returns -1 if
// no thread can go on: all have ended, or it is a fault.
int checker::next_thread() {
  const auto can_run = [&](int i) {
    auto& each = threads_[static_cast<std::size_t>(i)];
    return !each.ended && (!each.ready || each.ready());
  };
  const int count = static_cast<int>(threads_.size());
  for (;;) {
    std::array<int, 2 * most_threads> next{};  // the thread that ran first; then ~thread, to flush its oldest
    int options = 0;
    const auto add = [&](int option) { next[static_cast<std::size_t>(options++)] = option; };
    if (running_ >= 0 && can_run(running_)) add(running_);
    const bool would_preempt = options != 0;
    for (int i = 0; i < count; ++i) {
      if (i != running_ && (!would_preempt || preemptions_left_ > 0) && can_run(i)) add(i);
    }
    for (int i = 0; i < count; ++i) {
      const bool delayed = !threads_[static_cast<std::size_t>(i)].stores.empty();
      if (delayed && (options == 0 || preemptions_left_ > 0)) add(~i);
    }
    if (options == 0) {
      for (const auto& each : threads_) {
        if (!each.ended) fault_ = "deadlock: every thread waits";
      }
      return -1;
    }
    const int taken = next[static_cast<std::size_t>(choose(options))];
    if (would_preempt && taken != running_) --preemptions_left_;
    ++moves_;
    if (taken >= 0) return taken;
    flush_one(~taken);
  }
}

void checker::go_on() {
  const int next = next_thread();
  if (next != running_) switch_to(next);
}

// -1 switches to the caller of check().
void checker::switch_to(int next) {
  auto& from = fiber_of(running_);
  running_ = next;
  std::memcpy(&from.held, abi::__cxa_get_globals(), sizeof from.held);
  if (_setjmp(from.here) == 0) resume(fiber_of(next));  // unlike swapcontext(), these make no system call
}

// The C++ library keeps the state of exceptions for each thread of the system, so each fiber brings its own
// state along.
void checker::resume(fiber& to) {
  std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), &to.held, sizeof to.held);
  if (to.started) _longjmp(to.here, 1);
  to.started = true;
  setcontext(&to.start);
  std::abort();  // it has not switched
}

void checker::step() {
  if (threads_[static_cast<std::size_t>(running_)].ended) return;  // the last function runs alone
  go_on();
}

void checker::wait_until(const std::function<bool()>& ready) {
  auto& me = threads_[static_cast<std::size_t>(running_)];
  me.ready = ready;
  go_on();
  me.ready = nullptr;
}

void checker::pause() {
  wait_until([this, seen = moves_] { return moves_ != seen; });
}

}  // namespace teff::checked
