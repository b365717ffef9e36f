// Which signals the threads of libteff leave to the program's own threads.
#include "platform/watchdog.hpp"
#include "workers.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>

namespace teff::test {
namespace {

bool blocks(std::uint64_t mask, int signal) {
  return (mask >> (signal - 1) & 1) != 0;
}

// Calls see(mask) with what each thread of this process blocks, but for the calling one.
template <class See>
int each_other_thread(See see) {
  int threads = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    if (each.path().filename() == std::to_string(::gettid())) continue;
    std::ifstream status(each.path() / "status");
    for (std::string word; status >> word;) {
      if (word != "SigBlk:") continue;
      status >> word;
      see(std::stoull(word, nullptr, 16));
      ++threads;
    }
  }
  return threads;
}

TEST(own_thread, blocks_the_programs_signals_and_takes_its_own_faults_and_the_profilers_ticks) {
  if (under_thread_sanitizer || under_address_sanitizer) GTEST_SKIP() << "sanitizers may have a thread, too";
  ::setenv("TEFF_WATCHDOG", "100s", 1);
  const detail::watchdog watches([] { return std::string(); });
  ::unsetenv("TEFF_WATCHDOG");
  runtime rt{{.workers = 3}};
  std::atomic<bool> blocks_now{false};
  std::atomic<bool> goes_on{false};
  auto blocked = rt.submit([&] {
    blocking([&] {
      blocks_now = true;
      blocks_now.notify_all();
      goes_on.wait(false);
    });
  });
  blocks_now.wait(false);
  const int threads = each_other_thread([](std::uint64_t mask) {
    for (const int each :
         {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGIO, SIGWINCH, SIGRTMIN})
      EXPECT_TRUE(blocks(mask, each)) << ::strsignal(each);
    for (const int each : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPIPE, SIGPROF})
      EXPECT_FALSE(blocks(mask, each)) << ::strsignal(each);
  });
  EXPECT_GE(threads, 3 + 1 + 1);
  goes_on = true;
  goes_on.notify_all();
  blocked.get();
}

TEST(own_thread, leaves_the_mask_of_the_thread_that_starts_it_as_it_was) {
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  const runtime rt{{.workers = 1}};
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int each = 1; each < SIGRTMAX; ++each)
    EXPECT_EQ(::sigismember(&before, each), ::sigismember(&after, each));
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
