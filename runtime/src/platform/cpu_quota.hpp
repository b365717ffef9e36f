// How much CPU time a cgroup lets the process have.
#pragma once

#include <string>

namespace teff::detail {

// The tightest CPU quota, in CPUs, of this process's cgroup and the cgroups around it; 0 if there is none.
// `root`: where the file systems "/proc" and "/sys" lie.
[[nodiscard]] double cpu_quota(const std::string& root = {});

}  // namespace teff::detail
