// The message of a thread of libteff whose stack overflows. No other fault causes it.
#include <teff/blocking.hpp>
#include <teff/runtime.hpp>

#include "workers.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>

namespace teff::test {
namespace {

// Does not return.
[[gnu::noinline]] int recurse(int depth) {
  volatile int here = depth;
  if (here < 0) return 0;
  const int deeper = recurse(here + 1);
  return deeper + here;
}

[[gnu::noinline]] void write_to(volatile int* where) {
  *where = 1;
}

struct stack_overflow : testing::Test {
  void SetUp() override {
    if (under_address_sanitizer || under_thread_sanitizer)
      GTEST_SKIP() << "sanitizers have handlers of their own, which speak in our place";
  }
};

constexpr std::size_t stack = std::size_t{512} << 10;

// Calls `what` on a worker's own thread. The calling thread does not wait for it: as a guest it could call
// `what` itself.
void on_worker(const std::function<void()>& what, unsigned workers = 1) {
  runtime rt{{.workers = workers, .stack_size = stack}};
  static_cast<void>(rt.submit(what));
  for (;;) ::pause();
}

TEST_F(stack_overflow, of_a_worker_names_it_its_size_and_the_way_out) {
  EXPECT_EXIT(on_worker([] { recurse(0); }), testing::KilledBySignal(SIGSEGV),
              "^teff: worker 0 has used up its stack of 524288 bytes, by deep recursion or large variables; "
              "teff::runtime_options::stack_size or TEFF_STACK_SIZE gives the workers more\n$");
}

// Calls run() until the calling thread runs the function itself. Then it calls `what`, within or after run().
void on_this_thread(const std::function<void()>& what, bool within) {
  runtime rt{{.workers = 1, .stack_size = stack}};
  const auto caller = std::this_thread::get_id();
  for (bool is_here = false; !is_here;) {
    rt.run([&] {
      is_here = std::this_thread::get_id() == caller;
      if (is_here && within) what();
    });
  }
  what();
}

TEST_F(stack_overflow, of_a_thread_from_outside_names_the_worker_whose_place_it_has) {
  EXPECT_EXIT(
      on_this_thread([] { recurse(0); }, true), testing::KilledBySignal(SIGSEGV),
      "^teff: a calling thread, as worker 0, has used up its stack of 524288 bytes, by deep recursion or "
      "large variables; teff::runtime_options::stack_size or TEFF_STACK_SIZE gives the workers more\n$");
}

TEST_F(stack_overflow, of_a_thread_from_outside_after_its_call_is_not_reported) {
  EXPECT_EXIT(on_this_thread([] { recurse(0); }, false), testing::KilledBySignal(SIGSEGV), "^$");
}

TEST_F(stack_overflow, of_a_spare_thread_says_what_sets_its_size) {
  EXPECT_EXIT(on_worker([] { blocking([] { recurse(0); }); }), testing::KilledBySignal(SIGSEGV),
              "^teff: a spare thread has used up its stack of [0-9]+ bytes, by deep recursion or large "
              "variables; .ulimit -s. before the program starts gives it more\n$");
}

TEST_F(stack_overflow, is_not_reported_for_another_fault) {
  EXPECT_EXIT(on_worker([] { write_to(nullptr); }), testing::KilledBySignal(SIGSEGV), "^$");
  EXPECT_EXIT(on_worker([] { ::raise(SIGSEGV); }), testing::KilledBySignal(SIGSEGV), "^$");
  EXPECT_EXIT(
      {
        const runtime rt{{.workers = 1}};
        write_to(nullptr);
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}

TEST_F(stack_overflow, leaves_the_handler_of_the_program_in_place) {
  EXPECT_EXIT(
      {
        struct sigaction own = {};
        own.sa_handler = [](int) { ::_exit(7); };
        ::sigaction(SIGSEGV, &own, nullptr);
        on_worker([] { write_to(nullptr); });
      },
      testing::ExitedWithCode(7), "^$");
}

TEST_F(stack_overflow, leaves_a_signal_that_the_program_ignores_ignored) {
  EXPECT_EXIT(
      {
        ::signal(SIGSEGV, SIG_IGN);
        runtime rt{{.workers = 1}};
        rt.submit([] { ::raise(SIGSEGV); }).get();
        ::_exit(7);
      },
      testing::ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace teff::test
