#pragma once

#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "teff/bench/cores.hpp"

namespace dispatch {

/// libdispatch has as many threads as the process had cores when it was loaded. For fewer workers the program
/// leaves some of its cores and starts anew: this does not return then. More than there are cores can't be
/// had.
inline void take_cores(int workers) {
  if (workers >= teff::bench::usable_cores()) return;
  cpu_set_t all, kept;
  CPU_ZERO(&kept);
  if (sched_getaffinity(0, sizeof all, &all) != 0) throw std::runtime_error("the cores can't be asked for");
  for (int core = 0; CPU_COUNT(&kept) < workers; ++core)
    if (CPU_ISSET(core, &all)) CPU_SET(core, &kept);
  if (sched_setaffinity(0, sizeof kept, &kept) != 0) throw std::runtime_error("the cores can't be chosen");
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv("/proc/self/exe", arguments.data());
  throw std::runtime_error("the program can't be started anew");
}

}  // namespace dispatch
