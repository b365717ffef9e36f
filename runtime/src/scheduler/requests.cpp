#include "scheduler/requests.hpp"

#include <teff/detail/scheduler/requests.hpp>

#include "scheduler/blocked_activities.hpp"
#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

#include <memory>
#include <new>

namespace teff::detail {

// A spare thread's turn of running requests.
struct requests::lent_thread : job {
  requests& of;
};

bool requests::is_there_anything_to_lend() const noexcept {
  return !queue_.empty() || (!calls_.empty() && gate_.everybody_is_limited());
}

// A call that a worker may begin is left to it: a spare thread would run all of it in order.
job* requests::next_to_lend() noexcept {
  job* const call = gate_.everybody_is_limited() ? calls_.pop() : nullptr;
  return call != nullptr ? call : queue_.pop();
}

void requests::lend() noexcept {
  if (!is_there_anything_to_lend() || !lent_.try_begin_run()) return;
  const auto run = [](job& this_job) noexcept {
    const std::unique_ptr<lent_thread> me(&static_cast<lent_thread&>(this_job));
    me->of.run_all();
  };
  auto* const turn = new (std::nothrow) lent_thread{{run}, *this};
  if (turn != nullptr && spare_.run(*turn)) return;
  delete turn;
  lent_.end_run();
}

void requests::run_all() noexcept {
  this_thread.runs_requests_of = this;
  lent_.run_all(
      [this] {
        auto* const next = next_to_lend();
        if (next != nullptr) next->run(*next);
        if (this_thread.runs_requests_of == nullptr) end_child_process();
        return next != nullptr;
      },
      [this] { return !is_there_anything_to_lend(); });
  this_thread.runs_requests_of = nullptr;
}

void requests::begin_block() noexcept {
  if (this_thread.blocks++ != 0) return;
  lent_.end_run();
  lend();
}

void requests::end_block() noexcept {
  if (--this_thread.blocks == 0) lent_.resume_run();
}

void requests::stop() noexcept {
  spare_.stop();
  while (auto* const done = queue_.pop()) done->run(*done);
}

bool withdraw_request(scheduler& runtime, job& job) noexcept {
  return runtime.requests().queue().withdraw(job);
}

bool works_for(const scheduler& runtime) noexcept {
  const auto* const me = worker::current();
  return (me != nullptr && &me->all() == &runtime) || runtime.requests().spare().owns_this_thread();
}

bool has_room_for_awaited(const scheduler* runtime) noexcept {
  if (const auto* const me = worker::current())
    return &me->all() == runtime && me->has_room_for_foreign_tasks();
  return runtime != nullptr && runtime->requests().spare().owns_this_thread() &&
         spare_threads::has_room_here();
}

bool run_aside(awaited_job& job) {
  const auto at = this_worker();
  job.ended.begin(at);
  const blocked_activities blocked(&job);
  named_job named(job);
  if (!at.runtime->requests().spare().run(named.unless_plain(blocked))) return false;
  job.ended.wait();
  return true;
}

thread_blocks::thread_blocks() noexcept {
  if (auto* const lent = this_thread.runs_requests_of) lent->begin_block();
}

thread_blocks::~thread_blocks() {
  if (auto* const lent = this_thread.runs_requests_of) lent->end_block();
}

}  // namespace teff::detail
