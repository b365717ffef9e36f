#include <teff/runtime.hpp>

#include "scheduler/scheduler.hpp"

namespace teff {

namespace {

// The runtime itself is never destroyed: threads that run on after the end of main may still use it.
class until_exit {
 public:
  ~until_exit() { kept.internals().shut_down_at_exit(); }
  runtime& kept = *new runtime;
};

}  // namespace

runtime& default_runtime() {
  static until_exit only;
  return only.kept;
}

}  // namespace teff
