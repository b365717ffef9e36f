#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "teff/bench/identity.hpp"
#include "teff/bench/noise.hpp"
#include "teff/wake/two_tasks.hpp"
#include "teff/wake/work.hpp"

namespace teff::wake {

/// A system with its workers, which are left without work and woken.
class wake_runner {
 public:
  wake_runner() = default;
  wake_runner(const wake_runner&) = delete;
  wake_runner& operator=(const wake_runner&) = delete;
  virtual ~wake_runner() = default;

  [[nodiscard]] virtual bench::identity describe() const = 0;
  /// Why no task of it can reach another worker, or nothing.
  [[nodiscard]] virtual std::string missing() const = 0;
  /// Idles and wakes, between region.start() and region.stop(). Fewer wakes than asked for: after the last of
  /// them no worker came.
  [[nodiscard]] virtual result run(const work& asked, bench::region_meter& region) = 0;
};

/// The runner of a system that spawn/task_system.hpp describes.
template <class System>
class wake_runner_of final : public wake_runner {
 public:
  explicit wake_runner_of(int workers) : system_(workers) {}
  [[nodiscard]] bench::identity describe() const override { return system_.describe(); }
  [[nodiscard]] std::string missing() const override {
    if constexpr (!has_two_tasks<System>) return "plain C++ closures can't be tasks there";
    return system_.describe().workers < 2 ? "a second worker is needed, to be woken" : "";
  }
  [[nodiscard]] result run(const work& asked, bench::region_meter& region) override {
    result found;
    if constexpr (has_two_tasks<System>) {
      system_.run([&] {
        region.start();
        for (int i = 0; i < asked.wakes && idle_and_wake(asked.idle, found); ++i) {
        }
        region.stop();
      });
    }
    return found;
  }

 private:
  static constexpr seconds patience{1};

  static bool idle_and_wake(seconds idle, result& found) {
    bench::region_meter without_work;
    without_work.start();
    std::this_thread::sleep_for(idle);
    without_work.stop();
    found.idle_seconds += without_work.elapsed().count();
    found.idle_cpu_seconds += without_work.seen().cpu_seconds;
    const auto taken = seconds_to_another_worker<System>(patience);
    if (taken) found.wake_seconds.push_back(*taken);
    return taken.has_value();
  }

  System system_;
};

/// The main program of wake and park on a system's tasks; see bench::drive.
int drive(int argc, char** argv, const std::function<std::unique_ptr<wake_runner>(int workers)>& make,
          int workers);

template <class System>
int drive(int argc, char** argv) {
  return drive(
      argc, argv, [](int count) { return std::make_unique<wake_runner_of<System>>(count); },
      spawn::default_workers<System>());
}

}  // namespace teff::wake
