#include "interleavings.hpp"

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

int checker::choose(int options) {
  if (options == 1) return 0;
  if (position_ == path_.size()) path_.push_back({0, options});
  return path_[position_++].taken;
}

void checker::enter() {
  auto& here = *active_;
  auto& me = here.threads_[static_cast<std::size_t>(here.running_)];
  try {
    me.body();
  } catch (const fault& found) {
    here.fault_ = found.what();
  }
  me.ended = true;
  swapcontext(&me.context, &here.main_);
}

void checker::run_once(program& bodies) {
  fault_.clear();
  auto last = std::move(bodies.back());
  bodies.pop_back();
  if (threads_.size() != bodies.size()) threads_ = std::vector<thread>(bodies.size());
  for (auto& each : threads_) {
    const auto index = static_cast<std::size_t>(&each - threads_.data());
    each.body = std::move(bodies[index]);
    if (!each.stack) each.stack = std::make_unique<char[]>(stack_bytes);
    each.clock = {};
    each.clock[index] = 1;
    each.stores.clear();
    each.ready = nullptr;
    each.ended = false;
    getcontext(&each.context);
    each.context.uc_stack.ss_sp = each.stack.get();
    each.context.uc_stack.ss_size = stack_bytes;
    makecontext(&each.context, &checker::enter, 0);
  }
  schedule();
  if (!fault_.empty()) return;
  // The end: everything is visible to, and has happened before, the last function.
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

// The loop that decides what happens next: a thread's next access, or a delayed store that becomes visible.
void checker::schedule() {
  while (fault_.empty()) {
    std::vector<int>
        next;  // threads that can go on, the one that ran first; then ~thread, to flush its oldest
    const auto can_run = [&](int i) {
      auto& each = threads_[static_cast<std::size_t>(i)];
      return !each.ended && (!each.ready || each.ready());
    };
    const int count = static_cast<int>(threads_.size());
    if (running_ >= 0 && can_run(running_)) next.push_back(running_);
    const bool would_preempt = !next.empty();
    for (int i = 0; i < count; ++i) {
      if (i != running_ && can_run(i) && (!would_preempt || preemptions_left_ > 0)) next.push_back(i);
    }
    for (int i = 0; i < count; ++i) {
      const bool delayed = !threads_[static_cast<std::size_t>(i)].stores.empty();
      if (delayed && (next.empty() || preemptions_left_ > 0)) next.push_back(~i);
    }
    if (next.empty()) {
      for (const auto& each : threads_) {
        if (!each.ended) fault_ = "deadlock: every thread waits";
      }
      return;
    }
    const int taken = next[static_cast<std::size_t>(choose(static_cast<int>(next.size())))];
    if (would_preempt && taken != running_) --preemptions_left_;
    if (taken < 0) {
      flush_one(~taken);
      continue;
    }
    running_ = taken;
    threads_[static_cast<std::size_t>(taken)].ready = nullptr;
    swapcontext(&main_, &threads_[static_cast<std::size_t>(taken)].context);
  }
}

void checker::step() {
  auto& me = threads_[static_cast<std::size_t>(running_)];
  if (me.ended) return;  // the last function runs alone
  swapcontext(&me.context, &main_);
}

void checker::wait_until(const std::function<bool()>& ready) {
  auto& me = threads_[static_cast<std::size_t>(running_)];
  me.ready = ready;
  swapcontext(&me.context, &main_);
}

}  // namespace teff::checked
