#pragma once

#include <algorithm>
#include <cstddef>
#include <hpx/future.hpp>
#include <hpx/hpx_start.hpp>
#include <hpx/runtime.hpp>
#include <hpx/version.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "teff/bench/cores.hpp"
#include "teff/bench/identity.hpp"
#include "teff/bench/start_barrier.hpp"

/// HPX from start to end. It has no more workers than cores.
class threads {
 public:
  explicit threads(int workers) : workers_(std::min(workers, teff::bench::usable_cores())) {
    char name[] = "hpx";  // flags for HPX: it must not read this program's flags
    char* flags[] = {name, nullptr};
    hpx::init_params with;
    with.cfg = {"hpx.os_threads=" + std::to_string(workers_), "hpx.use_process_mask!=1"};
    if (!hpx::start(nullptr, 1, flags, with)) throw std::runtime_error("HPX does not start");
  }
  ~threads() {
    hpx::post([] { hpx::finalize(); });
    hpx::stop();
  }
  threads(const threads&) = delete;
  threads& operator=(const threads&) = delete;

  [[nodiscard]] teff::bench::identity describe(const char* variant) const {
    return {.system = "hpx",
            .variant = variant,
            .version = hpx::full_version_as_string(),
            .workers = static_cast<int>(hpx::get_os_thread_count()),
            .limits = "the cores that it may use"};
  }

  /// Runs a function in one of HPX's threads, with all workers awake.
  template <class Body>
  void run(Body body) {
    hpx::async([&] {
      wake_all();
      body();
    }).get();
  }

 private:
  /// Returns when all workers are awake, or may not be: HPX promises no task a separate worker.
  void wake_all() const {
    teff::bench::start_barrier all(workers_);
    std::vector<hpx::future<void>> others;
    for (int i = 1; i < workers_; ++i) others.push_back(hpx::async([&] { all.arrive_and_wait(); }));
    all.arrive_and_wait();
    hpx::wait_all(others);
  }

  int workers_;
};
