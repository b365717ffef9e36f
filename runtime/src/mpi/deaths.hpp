// Tells when another process of this node has died, as by kill -9: nobody else would tell those that sleep
// until it sends.
#pragma once

#include <sys/types.h>

#include <functional>
#include <span>
#include <thread>
#include <vector>

namespace teff::detail {

class death_watch {
 public:
  // From now on died(i) is called, once, by a thread of its own, when the i-th of these processes has ended.
  // That thread sleeps until then. Processes that the system does not let this one watch are left out.
  death_watch(std::span<const pid_t> processes, std::function<void(std::size_t)> died);
  ~death_watch();
  death_watch(const death_watch&) = delete;
  death_watch& operator=(const death_watch&) = delete;

 private:
  void watch();

  std::function<void(std::size_t)> died_;
  std::vector<int> files_;  // of processes; -1: not watched. The last: readable when this is to end
  std::thread thread_;
};

}  // namespace teff::detail
