// Which activities wait for which: finds waits that could never end.
#pragma once

#include <teff/detail/scheduler/frame.hpp>
#include <teff/detail/scheduler/gang.hpp>
#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/made_of_others.hpp>
#include <teff/detail/scheduler/requests.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/detail/scheduler/waiting.hpp>

#include "scheduler/job_queue.hpp"

#include <atomic>

namespace teff::detail {

// What a thread waits for. The thread keeps it alive.
struct awaited_thing {
  const void* name;                   // as enclosing_activity::of
  made_of_others* outcome = nullptr;  // itself, if it is an outcome
  job_queue* turns = nullptr;         // of a gang: where it waits for its turn
  waiters* for_room = nullptr;        // of a wait for room: the list that the thread is on, or about to be
};

// While it lives, the calling thread waits for something that it did not spawn, so that none of the
// activities that it is in the middle of can end before that does. Throws std::bad_alloc.
class blocked_activities {
 public:
  // `awaited`: as enclosing_activity::of.
  explicit blocked_activities(const void* awaited) : blocked_activities(awaited_thing{awaited}) {}
  explicit blocked_activities(made_of_others& awaited) : blocked_activities({&awaited, &awaited}) {}
  // A gang that is about to be submitted to this queue. The activities of its parts have its address as name.
  blocked_activities(const gang& awaited, job_queue& to) : blocked_activities({&awaited, nullptr, &to}) {}
  // A wait for tasks of this source to go, only to keep their number small: the thread goes on without that
  // where the wait might never end.
  blocked_activities(const source& awaited, waiters& in)
      : blocked_activities({&awaited, nullptr, nullptr, &in}) {
    given_up_ = for_ever_;
  }
  ~blocked_activities();

  // Whether the calling thread is in the middle of any activity.
  [[nodiscard]] bool any() const noexcept { return any_; }
  // Whether the awaited thing can't end before one of those activities does: its tasks may wait for others,
  // it may be made of others, and so on. Then this wait is not noted.
  [[nodiscard]] bool for_ever() const noexcept { return for_ever_; }
  // Of a wait for room: asked again when the thread is woken.
  [[nodiscard]] bool is_given_up() const noexcept { return given_up_; }
  void give_up() const noexcept { given_up_ = true; }

 private:
  explicit blocked_activities(const awaited_thing& awaited);

  bool any_ = false;
  bool for_ever_ = false;
  mutable std::atomic<bool> given_up_{false};
};

// A job that another thread is to run while its submitter, in the middle of activities, waits for it: an
// activity by the job's name.
struct named_job : job {
  explicit named_job(awaited_job& wanted) noexcept
      : job{[](job& this_job) noexcept {
          auto& me = static_cast<named_job&>(this_job);
          run_as_activity(&me.of, [&me] {
            const within part(me.part_of);
            me.of.run(me.of);  // whose end may be that of both
          });
        }},
        of(wanted) {}
  // The job that is to be run for a submitter that is blocked like that.
  [[nodiscard]] job& unless_plain(const blocked_activities& submitter) noexcept {
    return submitter.any() ? static_cast<job&>(*this) : of;
  }
  awaited_job& of;
  // The source whose task waits for the job. An observed body is no part of its source.
  const void* const part_of = self.frame->observer == nullptr ? self.frame->of : nullptr;
};

}  // namespace teff::detail
