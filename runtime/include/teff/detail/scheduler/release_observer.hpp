// An observer of what a task releases: the tasks that may start because of it.
#pragma once

namespace teff::detail {

class source;

// It is told of each task, by its `Name`, that an observed task releases.
template <class Name>
class release_observer {
 public:
  // Returns whether the source is to count the release. If it throws, so does the call by which the task
  // releases.
  virtual bool passes_on(const Name& released) = 0;

 protected:
  ~release_observer() = default;
};

// The task that runs on the calling thread, if it is observed: its source, and that source's
// release_observer<Name>. A task that a worker runs on top of it, while it waits, is not observed: the
// scheduler sees to that.
struct observed_task {
  const source* of = nullptr;
  void* observer = nullptr;
};
// As `self`: one in the process, also where a program hides its inline variables.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local observed_task observed;

}  // namespace teff::detail
