// The source whose task the calling thread runs.
#pragma once

namespace teff::detail {

class source;
struct source_worker;

// The source of the task, and its worker's state of that source. If `state` is null, the thread runs a part
// of the task that another thread has begun: a stolen iteration of its loop, a task of its scope, a call of
// blocking(). The scheduler sees to that.
struct running_source {
  source* of = nullptr;
  source_worker* state = nullptr;
};
// As `self`: one in the process, also where a program hides its inline variables.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local running_source running_on;

}  // namespace teff::detail
