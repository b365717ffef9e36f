#pragma once

#include <libfork.hpp>

#include <cstddef>
#include <string>

#include "teff/bench/identity.hpp"

/// A pool of libfork's, with so many workers. It binds them to the cores itself where it has hwloc.
template <class Pool>
class pool {
 public:
  explicit pool(int workers) : pool_(static_cast<std::size_t>(workers)) {
    for (lf::worker_context* each : pool_.contexts()) lf::sync_wait(*each, number, numbered_++);
  }

  [[nodiscard]] teff::bench::identity describe(const char* variant) const {
    return {.system = "libfork",
            .variant = variant,
            .version = std::to_string(LF_VERSION_MAJOR) + "." + std::to_string(LF_VERSION_MINOR) + "." +
                       std::to_string(LF_VERSION_PATCH),
            .workers = numbered_};
  }

  [[nodiscard]] Pool& get() { return pool_; }

  /// Every worker that slept is awake.
  void wake_all() {
    for (lf::worker_context* each : pool_.contexts()) lf::sync_wait(*each, nothing);
  }

  /// The number of the worker that calls. A coroutine may go on in another one after each co_await.
  [[nodiscard]] static int here() { return worker_; }

 private:
  static inline thread_local int worker_ = 0;

  static constexpr auto nothing = [](auto) LF_STATIC_CALL -> lf::task<> { co_return; };
  static constexpr auto number = [](auto, int worker) LF_STATIC_CALL -> lf::task<> {
    worker_ = worker;
    co_return;
  };
  int numbered_ = 0;  ///< workers that have run a coroutine of ours
  Pool pool_;
};
