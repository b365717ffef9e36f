#include "mpi/file_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace teff::detail {

file_watch::file_watch(std::vector<int> files, std::function<bool(std::size_t)> came)
    : came_(std::move(came)), files_(std::move(files)), end_(eventfd(0, EFD_CLOEXEC)) {
  if (end_ < 0) throw std::system_error(errno, std::generic_category(), "teff::mpi: eventfd");
  thread_.start([this] { watch(); });
}

file_watch::~file_watch() {
  const std::uint64_t one = 1;
  while (write(end_, &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread_.join();
  close(end_);
}

void file_watch::watch() {
  std::vector<pollfd> all;
  for (const int each : files_) all.push_back({each, POLLIN, 0});  // poll() skips files below 0
  all.push_back({end_, POLLIN, 0});
  for (;;) {
    if (poll(all.data(), all.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (all.back().revents != 0) return;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if (all[i].revents != 0 && !came_(i)) all[i].fd = -1;
    }
  }
}

}  // namespace teff::detail
