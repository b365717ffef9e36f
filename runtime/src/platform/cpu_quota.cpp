#include "platform/cpu_quota.hpp"

#include <fstream>

namespace teff::detail {

namespace {

// CPUs' worth of time that a cgroup's files grant; 0 if they set no limit. Version 2 says "quota period" or
// "max period" in one file, version 1 has a file for each, -1 for no limit.
double quota_of(const std::string& quota_file, const std::string& period_file) {
  std::ifstream file(quota_file);
  double quota = 0;
  double period = 0;
  file >> quota;  // "max" leaves 0
  if (period_file.empty()) {
    file >> period;
  } else {
    std::ifstream(period_file) >> period;
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

}  // namespace

double cpu_quota(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");  // lines "id:controllers:/path"
  double tightest = 0;
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(",cpu,") == std::string::npos) continue;
    const auto mount = root + (unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu");
    for (auto path = line.substr(second + 1);; path.resize(path.rfind('/'))) {
      const auto folder = mount + (path == "/" ? "" : path);
      const auto quota = unified ? quota_of(folder + "/cpu.max", {})
                                 : quota_of(folder + "/cpu.cfs_quota_us", folder + "/cpu.cfs_period_us");
      if (quota > 0 && (tightest == 0 || quota < tightest)) tightest = quota;
      if (path.empty() || path.find('/') == std::string::npos) break;
    }
  }
  return tightest;
}

}  // namespace teff::detail
