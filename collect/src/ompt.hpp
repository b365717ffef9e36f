// The part of OMPT that ompt.cpp uses, as the OpenMP specification 5.1 defines it (chapter 4). GCC has no
// omp-tools.h.
#pragma once

#include <cstdint>

namespace teff::collect::ompt {

union data {
  std::uint64_t value;
  void* pointer;
};

enum class endpoint : int { begin = 1, end = 2 };
enum class work : int { loop = 1, sections = 2, single = 3, loop_static = 10 };
enum class sync : int { barrier = 1, taskwait = 5, taskgroup = 6 };
enum class status : int { complete = 1, yield = 2, cancel = 3, detach = 4, change = 7 };
enum class dispatch : int { loop_chunk = 3, taskloop_chunk = 4 };
enum class mutex : int { ordered = 7 };
enum task_flag : unsigned { taskwait = 0x10, undeferred = 0x08000000, untied = 0x10000000 };

enum class event : int {
  parallel_begin = 3,
  parallel_end = 4,
  task_create = 5,
  task_schedule = 6,
  implicit_task = 7,
  sync_region_wait = 16,
  work = 20,
  mutex_acquire = 26,
  mutex_acquired = 27,
  dispatch = 32
};

using callback = void (*)();
using set_callback = int (*)(event, callback);
using lookup = callback (*)(const char* name);

struct tool {
  int (*initialize)(lookup, int device, data*);
  void (*finalize)(data*);
  data of_tool;
};

inline constexpr int set_always = 5;

}  // namespace teff::collect::ompt
