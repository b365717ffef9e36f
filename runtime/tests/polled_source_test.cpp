// Sources that ask to be polled: a parked worker wakes for them.
#include <teff/detail/scheduler/source.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "platform/call_stack.hpp"
#include "workers.hpp"

namespace teff::test {
namespace {

using namespace std::chrono_literals;
using clock = detail::polled_source::poll_time::clock;

// Calls a function at a time. The function or any thread may set the next time.
class alarm_clock final : public detail::polled_source {
 public:
  explicit alarm_clock(detail::scheduler& of) : of_(of) {}

  void set(clock::time_point at, std::function<void()> then) {
    {
      const std::lock_guard lock(mutex_);
      at_ = at;
      then_ = std::move(then);
    }
    detail::published(of_);
  }

  bool run(unsigned) noexcept override { return false; }
  bool sees_work(unsigned) noexcept override { return false; }
  std::optional<poll_time> next_poll() noexcept override {
    const std::lock_guard lock(mutex_);
    return at_;
  }
  bool poll(unsigned) noexcept override {
    std::function<void()> due;
    {
      const std::lock_guard lock(mutex_);
      if (!at_ || *at_ > clock::now()) return false;
      at_.reset();
      due = std::exchange(then_, nullptr);
    }
    due();
    return true;
  }

 private:
  detail::scheduler& of_;
  std::mutex mutex_;
  std::optional<poll_time> at_;
  std::function<void()> then_;
};

// An alarm clock that the workers of a runtime look at.
class attached_clock {
 public:
  explicit attached_clock(runtime& rt)
      : of_(detail::private_access::internals(rt)),
        clock_(std::make_shared<alarm_clock>(detail::private_access::internals(rt))) {
    detail::attach(of_, clock_);
  }
  ~attached_clock() { detail::detach(of_, *clock_); }
  attached_clock(const attached_clock&) = delete;
  attached_clock& operator=(const attached_clock&) = delete;
  alarm_clock* operator->() const noexcept { return clock_.get(); }

 private:
  detail::scheduler& of_;
  std::shared_ptr<alarm_clock> clock_;
};

// The options of workers that park as soon as they find nothing.
runtime_options parking(unsigned workers) {
  return {.workers = workers, .spin = 0us};
}

// Of a new runtime, before anything wakes a worker.
void wait_until_all_are_parked(const runtime& rt) {
  while (rt.counters().parks < rt.workers()) std::this_thread::yield();
}

// Fails if it does not happen: no machine takes a minute for it.
void expect_soon(const std::future<void>& happened) {
  ASSERT_EQ(happened.wait_for(1min), std::future_status::ready);
}

TEST(polled_source, wakes_a_parked_worker_at_the_time_it_asked_for) {
  for (const unsigned workers : {1U, 2U, 4U}) {
    runtime rt(parking(workers));
    const attached_clock alarm(rt);
    std::promise<clock::time_point> rang;
    wait_until_all_are_parked(rt);
    const auto at = clock::now() + 5ms;
    alarm->set(at, [&] { rang.set_value(clock::now()); });
    auto when = rang.get_future();
    ASSERT_EQ(when.wait_for(1min), std::future_status::ready);
    EXPECT_GE(when.get(), at);
  }
}

TEST(polled_source, wakes_a_parked_worker_at_a_time_that_has_become_earlier) {
  runtime rt(parking(3));
  const attached_clock alarm(rt);
  alarm->set(clock::now() + 1h, [] {});
  wait_until_all_are_parked(rt);
  std::promise<void> rang;
  alarm->set(clock::now() + 1ms, [&] { rang.set_value(); });
  expect_soon(rang.get_future());
}

// One worker parks for each poll. The other workers sleep on.
TEST(polled_source, wakes_one_worker_for_a_poll_and_lets_the_others_sleep) {
  constexpr std::uint64_t polls = 100;
  runtime rt(parking(4));
  const attached_clock alarm(rt);
  wait_until_all_are_parked(rt);
  const auto before = rt.counters();
  std::uint64_t rung = 0;  // by one worker after the other, ordered by the clock's lock
  std::promise<void> done;
  std::function<void()> ring = [&] {
    if (++rung == polls) return done.set_value();
    alarm->set(clock::now() + 200us, ring);
  };
  alarm->set(clock::now(), ring);
  expect_soon(done.get_future());
  EXPECT_LE(rt.counters().parks - before.parks, polls + rt.workers());
}

TEST(polled_source, is_polled_by_another_worker_while_one_is_busy) {
  for (int round = 0; round < 50; ++round) {
    runtime rt(parking(2));
    const attached_clock alarm(rt);
    wait_until_all_are_parked(rt);
    std::atomic<bool> rang{false};
    alarm->set(clock::now() + std::chrono::microseconds(20 * round), [&] { rang = true; });
    // Either worker may run this, also the one that was to wake for the clock.
    rt.run([&] {
      while (!rang) std::this_thread::yield();
    });
  }
}

TEST(polled_source, is_polled_by_a_worker_that_waits_within_an_activity) {
  runtime rt(parking(1));
  const attached_clock alarm(rt);
  std::atomic<bool> rang{false};
  task_graph<int> g{rt};
  g.indegree([](int) { return 0; }).body([&](int) {
    alarm->set(clock::now() + 2ms, [&] { rang = true; });
    detail::wait_until([&] { return rang.load(); });
  });
  g.fulfill(0);
  g.wait();
  EXPECT_TRUE(rang);
}

// Short calls of run() leave the worker asleep until the time of the clock.
// Work in two pieces. The worker that has run the first piece is to look for the second one.
class two_pieces final : public detail::polled_source {
 public:
  std::atomic<int> left{0};
  std::promise<void> last_ran;

  bool run(unsigned) noexcept override {
    if (left == 0) return false;
    if (--left == 0) last_ran.set_value();
    return true;
  }
  bool sees_work(unsigned) noexcept override { return left != 0; }
  std::optional<poll_time> next_poll() noexcept override { return std::nullopt; }
  bool poll(unsigned) noexcept override { return false; }
};

TEST(polled_source, is_looked_at_by_another_worker_when_the_wait_ends_in_which_a_worker_ran_it) {
  runtime rt{parking(2)};
  wait_until_all_are_parked(rt);
  auto& of = detail::private_access::internals(rt);
  const auto source = std::make_shared<two_pieces>();
  detail::attach(of, source);
  const auto ran = source->last_ran.get_future();
  auto waits = rt.submit([&] {
    source->left = 2;
    detail::wait_until([&] { return source->left == 1; });
    // The worker goes on with its task, which waits for the second piece.
    expect_soon(ran);
  });
  expect_soon(ran);
  waits.get();
  detail::detach(of, *source);
}

TEST(polled_source, that_a_worker_sleeps_for_does_not_keep_callers_from_running_on_their_own_threads) {
  if (!detail::call_stack::available) GTEST_SKIP() << "no guests on this processor";
  runtime rt{parking(1)};
  const attached_clock clock(rt);
  std::promise<void> rang;
  clock->set(clock::now() + 1h, [] {});
  wait_until_all_are_parked(rt);
  const auto me = std::this_thread::get_id();
  for (int here = 0; here < 100;) here += rt.run([] { return std::this_thread::get_id(); }) == me ? 1 : 0;
  clock->set(clock::now(), [&] { rang.set_value(); });
  expect_soon(rang.get_future());
}

}  // namespace
}  // namespace teff::test
