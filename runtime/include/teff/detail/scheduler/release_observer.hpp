// An observer of what a task releases: the tasks that may start because of it.
#pragma once

namespace teff::detail {

// It is told of each task, by its `Name`, that an observed task releases (frame::observer). A worker
// that waits in the observed task may run another task, whose frame has no observer.
template <class Name>
class release_observer {
 public:
  // Returns whether the source is to count the release. If it throws, so does the call by which the task
  // releases.
  virtual bool passes_on(const Name& released) = 0;

 protected:
  ~release_observer() = default;
};

}  // namespace teff::detail
