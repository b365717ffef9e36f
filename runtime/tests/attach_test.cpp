// The end of a task waits for events that workers test.
#include <teff/attach.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

TEST(attach, ends_a_task_of_a_flow_when_the_event_has_completed) {
  for (const unsigned workers : {1U, 2U, 4U}) {
    runtime rt{{.workers = workers}};
    flow f{rt};
    std::atomic<bool> happened{false};
    bool body_returned = false;
    bool follows = false;
    int a = 0;
    int b = 0;
    f.task(out(a), [&] {
      attach([&] { return happened.load(); });
      body_returned = true;
    });
    f.task(inout(a), [&] { follows = happened && body_returned; });
    // Its worker is free meanwhile.
    f.task(out(b), [&] { happened = true; });
    f.wait();
    EXPECT_TRUE(follows) << workers << " workers";
  }
}

TEST(attach, ends_a_task_of_a_graph_when_the_event_has_completed) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  std::atomic<bool> happened{false};
  g.indegree([](int) { return 1; }).body([&](int k) {
    if (k == 1) happened = true;
    if (k == 0) attach([&] { return happened.load(); });
  });
  g.fulfill(0);
  g.fulfill(1);
  g.wait();
  EXPECT_TRUE(happened);
}

// The event of a program's own type: a byte can be read.
struct readable {
  int file;
  char* to;
  [[nodiscard]] bool test() const { return ::read(file, to, 1) == 1; }
};

TEST(attach, takes_files_and_timers) {
  runtime rt{{.workers = 1}};
  flow f{rt};
  int ends[2] = {};
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  char came = 0;
  const auto at = clock::now() + 5ms;
  bool in_time = false;
  std::string seen;
  f.task(out(came), [&] { attach(readable{ends[0], &came}); });
  f.task(in(came), out(seen), [&] { seen = came; });
  f.task(out(in_time), [&] { attach([&] { return clock::now() >= at; }); });
  f.task(inout(in_time), [&] {
    in_time = clock::now() >= at;
    ASSERT_EQ(::write(ends[1], "x", 1), 1);
  });
  f.wait();
  EXPECT_TRUE(in_time);
  EXPECT_EQ(seen, "x");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(attach, may_be_called_several_times_by_a_body) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  std::atomic<int> happened{0};
  int a = 0;
  int all = 0;
  f.task(out(a), [&] {
    for (int i = 1; i <= 10; ++i) attach([&, i] { return happened.load() >= i; });
  });
  f.task(in(a), [&] { all = happened; });
  int b = 0;
  for (int i = 0; i < 10; ++i) f.task(inout(b), [&] { ++happened; });
  f.wait();
  EXPECT_EQ(all, 10);
}

TEST(attach, of_events_that_have_completed_ends_the_task_soon) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  int a = 0;
  for (int i = 0; i < 1000; ++i) {
    f.task(inout(a), [&] {
      ++a;
      attach([] { return true; });
    });
  }
  f.wait();
  EXPECT_EQ(a, 1000);
}

TEST(attach, holds_a_hundred_thousand_ends_at_once) {
  constexpr int count = under_sanitizer ? 10'000 : 100'000;
  runtime rt{{.workers = 2}};
  flow f{rt};
  std::atomic<int> attached{0};
  std::vector<char> each(count);
  int ended = 0;
  for (char& one : each) {
    f.task(out(one), [&] {
      attach([&] { return attached.load() == count; });
      ++attached;
    });
  }
  for (char& one : each) f.task(in(one), inout(ended), [&] { ++ended; });
  f.wait();
  EXPECT_EQ(ended, count);
}

TEST(attach, keeps_what_a_task_that_throws_has_attached) {
  for (const unsigned workers : {1U, 2U}) {
    runtime rt{{.workers = workers}};
    flow f{rt};
    auto alive = std::make_shared<int>(0);
    const std::weak_ptr<int> watch = alive;
    std::atomic<bool> happened{false};
    bool was_alive = false;
    int a = 0;
    f.task(out(a), [&, mine = std::move(alive)] {
      attach([&] {
        was_alive = !watch.expired();
        return happened.load();
      });
      throw std::runtime_error("of the body");
    });
    std::thread later([&] { happened = true; });
    EXPECT_THROW(f.wait(), std::runtime_error);
    EXPECT_TRUE(happened);
    EXPECT_TRUE(was_alive);
    EXPECT_TRUE(watch.expired());
    later.join();
    f.task(out(a), [&] { a = 5; });
    f.wait();
    EXPECT_EQ(a, 5);
  }
}

TEST(attach, fails_the_flow_by_what_a_test_throws) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  int a = 0;
  f.task(out(a), [&] { attach([]() -> bool { throw std::runtime_error("of the event"); }); });
  f.task(in(a), [&] { a = 1; });
  try {
    f.wait();
    ADD_FAILURE() << "did not throw";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "of the event");
  }
  EXPECT_EQ(a, 0);
}

TEST(attach, destroys_the_event_before_the_task_ends) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  int a = 0;
  bool expired = false;
  std::weak_ptr<int> watch;
  f.task(out(a), [&] {
    auto owned = std::make_shared<int>(0);
    watch = owned;
    attach([owned = std::move(owned)] { return true; });
  });
  f.task(in(a), [&] { expired = watch.expired(); });
  f.wait();
  EXPECT_TRUE(expired);
}

TEST(attach, is_refused_where_no_task_can_wait) {
  runtime rt{{.workers = 1}};
  const auto call = [] { attach([] { return true; }); };
  EXPECT_NE(text_of<misuse>(call).find("outside the body of a task"), std::string::npos);
  EXPECT_NE(text_of<misuse>([&] { rt.run(call); }).find("outside the body of a task"), std::string::npos);
  EXPECT_NE(text_of<misuse>([] { static_cast<void>(hold_end()); }).find("teff::hold_end: called outside"),
            std::string::npos);
  flow f{rt};
  int a = 0;
  EXPECT_THROW(static_cast<void>(f.record([&] { f.task(out(a), call); })), not_replayable);
  f.check(true);
  f.task(out(a), call);
  EXPECT_NE(text_of<misuse>([&] { f.wait(); }).find("a checked flow"), std::string::npos);
  // Functions of reductions run when the body has returned.
  flow g{rt};
  double sum = 0;
  g.task(reduction(
             sum,
             [&](double x, double y) {
               call();
               return x + y;
             },
             0.0),
         [](double& mine) { mine = 1; });
  EXPECT_NE(text_of<misuse>([&] { g.wait(); }).find("outside the body"), std::string::npos);
}

TEST(attach, lets_another_thread_end_a_task_of_a_flow) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  std::thread later;
  std::atomic<bool> released{false};
  int a = 0;
  bool follows = false;
  f.task(out(a), [&] {
    later = std::thread([&, held = hold_end()]() mutable {
      released = true;
      held.release();
    });
  });
  f.task(in(a), [&] { follows = released; });
  f.wait();
  EXPECT_TRUE(follows);
  later.join();
}

TEST(attach, lets_workers_sleep_while_nothing_happens) {
  runtime rt{{.workers = 2, .spin = 0us}};
  flow f{rt};
  std::atomic<int> tests{0};
  int a = 0;
  // Each further test comes later: so many take longer than a spinning worker needs for millions.
  f.task(out(a), [&] { attach([&] { return ++tests == 100; }); });
  f.wait();
  EXPECT_GE(rt.counters().parks, 20U);
}

TEST(attach, names_the_task_and_the_event_of_a_long_wait) {
  ::setenv("TEFF_WATCHDOG", "1", 1);
  testing::internal::CaptureStderr();
  {
    runtime rt{{.workers = 1}};
    flow f{rt};
    int a = 0;
    const auto until = clock::now() + 2500ms;
    f.task(out(a), named<"asks">([&] { attach(named<"answer">([=] { return clock::now() >= until; })); }));
    f.wait();
  }
  ::unsetenv("TEFF_WATCHDOG");
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "teff: task 'asks' of inout waits for the event 'answer' (for more than 1 s)"),
            std::string::npos);
}

}  // namespace
}  // namespace teff::test
