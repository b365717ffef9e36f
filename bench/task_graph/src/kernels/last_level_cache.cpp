#include "kernels/last_level_cache.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <sstream>
#include <string>

namespace teff::graphs::kernels {
namespace {

struct cache {
  std::int64_t bytes = std::int64_t{32} << 20;  // a guess where the kernel doesn't tell
  std::int64_t cores = 1;                       // that share it
};

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// Cores of a mask as the kernel writes it: hexadecimal words with commas between.
std::int64_t count_cores(const std::string& mask) {
  std::istringstream words(mask);
  std::int64_t cores = 0;
  for (std::string word; std::getline(words, word, ',');)
    cores += std::popcount(std::stoul(word, nullptr, 16));
  return cores;
}

/// The last cache that the kernel lists for the first core. sysconf() isn't asked: on a virtual machine it
/// can count the caches of the whole socket, of which this machine may use a part.
cache last_level_cache() {
  cache last;
  for (int index = 0;; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    const std::string size = first_line(folder + "/size");  // "32768K"
    const std::string sharers = first_line(folder + "/shared_cpu_map");
    if (size.empty() || sharers.empty()) return last;
    last = {std::stol(size) << 10, std::max<std::int64_t>(count_cores(sharers), 1)};
  }
}

}  // namespace

std::int64_t streaming_threshold() {
  static const std::int64_t threshold = [] {
    const cache last = last_level_cache();
    return std::min(last.bytes, 2 * last.bytes / last.cores);
  }();
  return threshold;
}

}  // namespace teff::graphs::kernels
