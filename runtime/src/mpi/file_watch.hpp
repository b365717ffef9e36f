// Tells when files can be read: those of processes, which can be once the process has ended, and sockets.
#pragma once

#include "platform/own_thread.hpp"

#include <functional>
#include <vector>

namespace teff::detail {

class file_watch {
 public:
  // From now on came(i) is called, by a thread of its own, when the i-th of these files can be read, or is
  // broken; again and again until it returns false. That thread sleeps until then. Files below 0 are left
  // out. The caller keeps the files open meanwhile.
  file_watch(std::vector<int> files, std::function<bool(std::size_t)> came);
  ~file_watch();
  file_watch(const file_watch&) = delete;
  file_watch& operator=(const file_watch&) = delete;

 private:
  void watch();

  std::function<bool(std::size_t)> came_;
  std::vector<int> files_;
  int end_;  // readable when this is to end
  own_thread thread_;
};

}  // namespace teff::detail
