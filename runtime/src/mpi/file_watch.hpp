// Tells when files can be read: sockets, or files of processes, which can be read once these have ended.
#pragma once

#include "platform/own_thread.hpp"

#include <functional>
#include <vector>

namespace teff::detail {

class file_watch {
 public:
  // Starts a thread that sleeps until a file can be read or is broken. It then calls came(i) for the i-th
  // file, again and again until that returns false. It skips files below 0. The caller keeps the files open
  // meanwhile.
  file_watch(std::vector<int> files, std::function<bool(std::size_t)> came);
  ~file_watch();
  file_watch(const file_watch&) = delete;
  file_watch& operator=(const file_watch&) = delete;

 private:
  void watch();

  std::function<bool(std::size_t)> came_;
  std::vector<int> files_;
  int end_;  // can be read when the thread is to end
  own_thread thread_;
};

}  // namespace teff::detail
