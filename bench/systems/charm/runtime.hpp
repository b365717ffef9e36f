#pragma once

#include <charm++.h>
#include <mpi-interoperate.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "teff/bench/cores.hpp"
#include "teff/bench/identity.hpp"
#include "version.hpp"

/// Charm++ from its start on, with so many workers, which it calls PEs and binds to cores: the thread that
/// starts it is the first of them. They take messages while a thread is in run(), and sleep otherwise.
class runtime {
 public:
  explicit runtime(int workers) {
    static std::vector<std::string> words{"charm++", "++quiet", "+setcpuaffinity",
                                          "+p" + std::to_string(workers)};
    if (workers > teff::bench::usable_cores()) words.emplace_back("+CmiSleepOnIdle");
    static std::vector<char*> flags;  // both are read as long as Charm++ runs
    for (std::string& each : words) flags.push_back(each.data());
    flags.push_back(nullptr);
    CharmInit(static_cast<int>(words.size()), flags.data());
    on_exit(leave, nullptr);
  }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  [[nodiscard]] static teff::bench::identity describe(const char* variant) {
    return {.system = "charm", .variant = variant, .version = charm_version(), .workers = CkNumPes()};
  }

  /// Lets the workers take messages until one of them calls CkExit().
  static void run() { StartCharmScheduler(); }

 private:
  /// Charm++ ends a program itself, with its own exit code, and takes any other end for a mistake.
  static void leave(int code, void* /*unused*/) {
    std::cout.flush();
    std::fflush(nullptr);
    std::_Exit(code);
  }
};
