// The scheduler's record of each thread. Joins reach what they need faster in `self`
// (local_deque.hpp).
#pragma once

#include <cstdint>

namespace teff::detail {

class requests;
class spare_threads;
class worker;

struct thread_record {
  worker* is_worker = nullptr;  // null on other threads

  // The worker whose slots the thread's deque has, since the thread was its last guest. Thieves of that
  // worker's runtime may still look at the deque (guests.md). The worker lives as long as the runtime with
  // this number.
  worker* bound_to = nullptr;
  std::uint64_t bound_runtime = 0;
  bool refuses_to_be_a_guest = false;

  // Of a spare thread: whose it is, the middle of its stack, whose requests it is running, and how many
  // blocking calls it is in.
  const spare_threads* is_spare_of = nullptr;
  std::uintptr_t stack_middle = 0;
  requests* runs_requests_of = nullptr;
  unsigned blocks = 0;
};

// Initial-exec, as `self`.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local thread_record this_thread;

}  // namespace teff::detail
