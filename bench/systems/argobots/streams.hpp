#pragma once

#include <abt.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "teff/bench/identity.hpp"

/// Throws where a call of Argobots fails.
inline void check(int code) {
  if (code != ABT_SUCCESS) throw std::runtime_error("Argobots fails with code " + std::to_string(code));
}

/// Argobots from start to end: an execution stream for each worker, each with its own pool and a scheduler
/// that steals from the others' pools. The thread that makes it becomes the first stream. A program has one.
class streams {
 public:
  explicit streams(int workers) : streams_(static_cast<std::size_t>(workers)) {
    check(ABT_init(0, nullptr));
    pools.resize(streams_.size());
    for (ABT_pool& each : pools)
      check(ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &each));
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      std::vector<ABT_pool> own_first(pools.begin() + static_cast<std::ptrdiff_t>(i), pools.end());
      own_first.insert(own_first.end(), pools.begin(), pools.begin() + static_cast<std::ptrdiff_t>(i));
      ABT_sched scheduler = ABT_SCHED_NULL;
      check(ABT_sched_create_basic(ABT_SCHED_RANDWS, workers, own_first.data(), ABT_SCHED_CONFIG_NULL,
                                   &scheduler));
      if (i == 0) {
        check(ABT_xstream_self(&streams_[0]));
        check(ABT_xstream_set_main_sched(streams_[0], scheduler));
      } else {
        check(ABT_xstream_create(scheduler, &streams_[i]));
      }
    }
  }
  ~streams() {
    for (std::size_t i = 1; i < streams_.size(); ++i) {
      return_to_first();  // this thread may be stolen here, and no stream joins itself
      check(ABT_xstream_free(&streams_[i]));
    }
    return_to_first();
    check(ABT_finalize());
  }
  streams(const streams&) = delete;
  streams& operator=(const streams&) = delete;

  [[nodiscard]] static teff::bench::identity describe(const char* variant) {
    int streams = 0;
    check(ABT_xstream_get_num(&streams));
    return {.system = "argobots", .variant = variant, .version = ABT_VERSION, .workers = streams};
  }

  /// The stream that calls. Not inline: a user-level thread may come back from a wait on another one.
  [[nodiscard, gnu::noinline]] static int here() {
    int rank = 0;
    check(ABT_self_get_xstream_rank(&rank));
    return rank;
  }

  [[nodiscard]] static ABT_pool pool_of(int stream) { return pools[static_cast<std::size_t>(stream)]; }

 private:
  static void return_to_first() {
    while (here() != 0) check(ABT_self_yield());
  }

  static inline std::vector<ABT_pool> pools;  ///< by stream
  std::vector<ABT_xstream> streams_;
};
