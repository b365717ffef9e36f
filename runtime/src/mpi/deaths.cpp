#include "mpi/deaths.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace teff::detail {

namespace {

// Older C libraries have no function for it.
int file_of_process(pid_t process) noexcept {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
#else
  static_cast<void>(process);
  return -1;
#endif
}

}  // namespace

death_watch::death_watch(std::span<const pid_t> processes, std::function<void(std::size_t)> died)
    : died_(std::move(died)) {
  for (const auto each : processes) files_.push_back(each == getpid() ? -1 : file_of_process(each));
  files_.push_back(eventfd(0, EFD_CLOEXEC));
  if (files_.back() < 0) {
    for (const int each : files_) {
      if (each >= 0) close(each);
    }
    throw std::system_error(errno, std::generic_category(), "teff::mpi: eventfd");
  }
  // Signals are the program's threads' affair.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { watch(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

death_watch::~death_watch() {
  const std::uint64_t one = 1;
  while (write(files_.back(), &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread_.join();
  for (const int each : files_) {
    if (each >= 0) close(each);
  }
}

void death_watch::watch() {
  std::vector<pollfd> all;
  for (const int each : files_) all.push_back({each, POLLIN, 0});  // poll() leaves out those below 0
  for (;;) {
    if (poll(all.data(), all.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (all.back().revents != 0) return;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if (all[i].revents == 0) continue;
      all[i].fd = -1;
      died_(i);
    }
  }
}

}  // namespace teff::detail
