#include "scheduler/spare_threads.hpp"

#include <teff/detail/scheduler/process.hpp>

#include "platform/stack_overflow.hpp"
#include "platform/topology.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace teff::detail {

namespace {

// How long a thread waits for its next job before it ends.
constexpr std::chrono::seconds kept{5};

// At least as much as a program's first thread usually has: some C libraries give other threads a small part
// of that by default. Where the default follows `ulimit -s`, it may be more.
std::size_t size_of_stack() noexcept {
  constexpr std::size_t least = std::size_t{8} << 20;
  pthread_attr_t attributes;
  std::size_t by_default = 0;
  if (::pthread_attr_init(&attributes) == 0) {
    ::pthread_attr_getstacksize(&attributes, &by_default);
    ::pthread_attr_destroy(&attributes);
  }
  return std::max(least, by_default);
}

}  // namespace

bool spare_threads::run(job& wanted) noexcept {
  threads gone;  // joined after the lock is given back
  {
    const std::lock_guard lock(mutex_);
    gone.splice(gone.end(), ended_);
    if (free_ == jobs_.size()) {
      if (threads_.size() >= most_) return false;
      try {
        threads_.emplace_back();
        const auto me = std::prev(threads_.end());
        try {
          me->start([this, me] { main(me); }, size_of_stack());
        } catch (...) {
          threads_.pop_back();
          return false;
        }
      } catch (...) {
        return false;
      }
      ++free_;
    }
    jobs_.push(wanted);
  }
  wanted_.notify_one();
  for (auto& each : gone) each.join();
  return true;
}

void spare_threads::main(threads::iterator me) noexcept {
  const stack_overflow_report reports("a spare thread",
                                      "`ulimit -s` before the program starts gives it more");
  ::prctl(PR_SET_NAME, "teff spare");
  this_thread.is_spare_of = this;
  this_thread.stack_middle =
      reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - size_of_stack() / 2;
  machine_.free_this_thread();
  std::unique_lock lock(mutex_);
  const auto is_called = [this] { return !jobs_.empty() || stop_; };
  while (wanted_.wait_for(lock, kept, is_called) && !jobs_.empty()) {
    job& mine = *jobs_.pop();
    --free_;
    lock.unlock();
    mine.run(mine);
    if (this_thread.is_spare_of == nullptr) end_child_process();
    lock.lock();
    ++free_;
  }
  --free_;
  if (!stop_) ended_.splice(ended_.end(), threads_, me);
}

void spare_threads::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wanted_.notify_all();
  for (auto& each : threads_) each.join();
  for (auto& each : ended_) each.join();
  threads_.clear();
  ended_.clear();
}

}  // namespace teff::detail
