// The signals that the threads of libteff, and what their tasks begin, block.
#include "platform/watchdog.hpp"
#include "workers.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace teff::test {
namespace {

// The signals that a thread blocks.
std::uint64_t mask_of(const std::filesystem::path& task) {
  std::ifstream status(task / "status");
  for (std::string word; status >> word;) {
    if (word != "SigBlk:") continue;
    status >> word;
    return std::stoull(word, nullptr, 16);
  }
  return ~std::uint64_t{0};
}

// The calling thread blocks this signal meanwhile.
class blocked {
 public:
  explicit blocked(int signal) {
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, signal);
    ::pthread_sigmask(SIG_BLOCK, &one, &before_);
  }
  ~blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  blocked(const blocked&) = delete;
  blocked& operator=(const blocked&) = delete;

 private:
  sigset_t before_{};
};

TEST(own_thread, blocks_what_the_thread_blocks_that_makes_the_runtime) {
  if (under_thread_sanitizer || under_address_sanitizer) GTEST_SKIP() << "sanitizers may have a thread, too";
  const auto threads_here = [] {
    std::set<std::filesystem::path> all;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) all.insert(each.path());
    return all;
  };
  const auto before = threads_here();
  const blocked meanwhile(SIGUSR1);
  ::setenv("TEFF_WATCHDOG", "100s", 1);
  const detail::watchdog watches([] { return std::string(); });
  ::unsetenv("TEFF_WATCHDOG");
  runtime rt{{.workers = 3}};
  std::atomic<bool> blocks_now{false};
  std::atomic<bool> goes_on{false};
  auto blocks = rt.submit([&] {
    blocking([&] {
      blocks_now = true;
      blocks_now.notify_all();
      goes_on.wait(false);
    });
  });
  blocks_now.wait(false);
  const auto mine = mask_of("/proc/thread-self");
  int threads = 0;
  for (const auto& each : threads_here()) {
    if (before.contains(each)) continue;
    EXPECT_EQ(mask_of(each), mine);
    ++threads;
  }
  EXPECT_GE(threads, 3 + 1 + 1);
  goes_on = true;
  goes_on.notify_all();
  blocks.get();
}

TEST(own_thread, begins_commands_that_take_the_signals_that_the_program_takes) {
  runtime rt{{.workers = 1}};
  int status = -1;
  on_own_thread(rt, 0, [&] {
    std::array<std::string, 2> words{"sleep", "1000"};
    std::array<char*, 3> arguments{words[0].data(), words[1].data(), nullptr};
    pid_t command = 0;
    if (::posix_spawnp(&command, "sleep", nullptr, nullptr, arguments.data(), ::environ) != 0) return;
    ::kill(command, SIGTERM);
    ::waitpid(command, &status, 0);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

// Forks in a task on a worker's own thread. Returns whether a signal ends the child.
bool ends_a_child_of(runtime& rt) {
  int status = 0;
  on_own_thread(rt, 0, [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      ::raise(SIGTERM);
      ::_exit(0);
    }
    ::waitpid(child, &status, 0);
  });
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
}

TEST(own_thread, forks_a_child_that_takes_signals_as_the_program_does) {
  runtime rt{{.workers = 1}};
  EXPECT_TRUE(ends_a_child_of(rt));
  // A runtime that a worker has made: its threads are the program's grandchildren.
  on_own_thread(rt, 0, [] {
    runtime within{{.workers = 1}};
    EXPECT_TRUE(ends_a_child_of(within));
  });
}

}  // namespace
}  // namespace teff::test
