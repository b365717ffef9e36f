#include "teff/bench/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace teff::bench {

std::int64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  return 0;
}

void reset_peak_resident() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

std::int64_t memory_here() {
  const std::int64_t machine = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (std::int64_t limit = 0; std::ifstream(file) >> limit && limit > 0) return std::min(machine, limit);
  return machine;  // no control group, or one without a limit, which says "max"
}

}  // namespace teff::bench
