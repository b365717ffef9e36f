// A wait for a future that can never end throws future_waits_for_itself. All other waits end.
#include <teff/teff.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

void until(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

// A request that waits for a future which is made from its own.
struct circle {
  std::atomic<bool> made{false};
  future<void> waited_for;

  // The body of the request. Returns whether its wait was refused.
  bool wait() {
    until(made);
    try {
      waited_for.wait();
    } catch (const future_waits_for_itself&) {
      return true;
    }
    return false;
  }
};

using make_future = std::function<future<void>(runtime&, future<void>)>;

// Several ways to make a future of another.
using way = std::pair<const char*, make_future>;
const std::vector<way> ways{
    {"itself", [](runtime&, future<void> own) { return own; }},
    {"then", [](runtime&, future<void> own) { return own.then([] {}); }},
    {"then of then", [](runtime&, future<void> own) { return own.then([] { return 1; }).then([](int) {}); }},
    {"when_all",
     [](runtime& rt, future<void> own) {
       return when_all(rt.submit([] {}), std::move(own)).then([](auto) {});
     }},
    {"when_all of a range",
     [](runtime& rt, future<void> own) {
       std::vector<future<void>> all;
       all.push_back(rt.submit([] {}));
       all.push_back(std::move(own));
       return when_all(all);
     }},
    {"when_any", [](runtime&, future<void> own) { return when_any(std::move(own)).then([](auto) {}); }},
    {"when_any of what is made of it",
     [](runtime&, future<void> own) {
       // NOLINTNEXTLINE(performance-move-const-arg)
       auto first = std::make_shared<future<void>>(std::move(own));
       std::vector<future<void>> all;
       all.push_back(first->then([] {}));
       return when_any(all).then([](auto) {});
     }},
    {"a coroutine",
     [](runtime&, future<void> own) {
       return [](future<void> awaited) -> future<void> { co_await awaited; }(std::move(own));
     }},
};

// Runs a request that calls waits(c) in a circle made in this way, and expects its wait to be refused.
void expect_told(runtime& rt, const way& made, const std::function<bool(circle&)>& waits) {
  circle c;
  std::atomic<bool> told{false};
  auto own = rt.submit([&] { told = waits(c); });
  c.waited_for = made.second(rt, std::move(own));
  c.made = true;
  c.waited_for.wait();
  EXPECT_TRUE(told) << made.first;
}

struct future_circles : testing::TestWithParam<unsigned> {
  runtime_options with_workers() const { return {.workers = GetParam()}; }
};

TEST_P(future_circles, of_one_request_are_named_errors) {
  for (const auto& each : ways) {
    runtime rt(with_workers());
    expect_told(rt, each, &circle::wait);
  }
}

// All workers sleep within other activities, so that a spare thread runs the request.
TEST_P(future_circles, on_a_spare_thread_are_named_errors) {
  for (const auto& each : ways) {
    runtime rt(with_workers());
    std::atomic<bool> go_on{false};
    std::vector<future<void>> blocked;
    for (unsigned i = 0; i < rt.workers(); ++i)
      blocked.push_back(rt.submit([&] { blocking([&] { until(go_on); }); }));
    expect_told(rt, each, &circle::wait);
    go_on = true;
    when_all(blocked).wait();
  }
}

TEST_P(future_circles, through_blocking_are_named_errors) {
  for (const auto& each : ways) {
    runtime rt(with_workers());
    expect_told(rt, each, [](circle& c) { return blocking([&] { return c.wait(); }); });
  }
}

TEST_P(future_circles, through_another_runtime_are_named_errors) {
  for (const auto& each : ways) {
    runtime rt(with_workers());
    runtime other(with_workers());
    for (const bool by_run : {true, false}) {
      SCOPED_TRACE(by_run ? "run" : "submit");
      expect_told(rt, each, [&](circle& c) {
        const auto there = [&] { return c.wait(); };
        try {
          return by_run ? other.run(there) : other.submit(there).get();
        } catch (const future_waits_for_itself&) {
          return true;  // it began this wait after the wait in the other runtime
        }
      });
    }
  }
}

// The wait that comes second is refused, and both requests end.
TEST_P(future_circles, of_two_requests_are_named_errors) {
  for (const auto& [name, make] : ways) {
    runtime rt(with_workers());
    circle of_first;
    circle of_second;
    std::atomic<int> told{0};
    auto first = rt.submit([&] { told += of_first.wait() ? 1 : 0; });
    auto second = rt.submit([&] { told += blocking([&] { return of_second.wait(); }) ? 1 : 0; });
    of_first.waited_for = make(rt, std::move(second));
    of_second.waited_for = make(rt, std::move(first));
    of_first.made = true;
    of_second.made = true;
    of_first.waited_for.wait();
    of_second.waited_for.wait();
    EXPECT_EQ(told, 1) << name;
  }
}

TEST_P(future_circles, do_not_exist_if_one_input_of_when_any_can_come) {
  runtime rt(with_workers());
  for (int round = 0; round < 100; ++round) {
    std::atomic<bool> made{false};
    std::atomic<bool> go_on{false};
    std::atomic<bool> ended{false};
    future<void> first;
    auto own = rt.submit([&] {
      until(made);
      go_on = true;
      first.wait();
      ended = true;
    });
    std::vector<future<void>> all;
    all.push_back(own.then([] {}));
    all.push_back(rt.submit([&] { blocking([&] { until(go_on); }); }));
    first = when_any(all).then([](auto) {});
    made = true;
    first.wait();
    until(ended);
  }
}

// One input of when_any waits for the request that waits for when_any. When the other input has come, all can
// end.
TEST_P(future_circles, do_not_exist_if_only_one_input_of_when_any_waits_for_the_waiter) {
  for (int round = 0; round < 50; ++round) {
    runtime rt(with_workers());
    std::atomic<bool> made{false};
    std::atomic<int> told{0};
    const auto look = [&](const auto& awaited) {
      until(made);
      try {
        awaited.wait();
      } catch (const future_waits_for_itself&) {
        ++told;
      }
    };
    future<first_ready<std::vector<future<void>>>> first;
    auto own = rt.submit([&] { look(first); });
    std::vector<future<void>> all;
    all.push_back(rt.submit([&] { look(own); }));
    all.push_back(rt.submit([] {}));
    first = when_any(all);
    made = true;
    own.wait();
    rt.shutdown();
    EXPECT_EQ(told, 0);
  }
}

// The first request runs the second on top of itself. A thief has a task of the second, which waits for the
// first.
TEST(circles_of_waits, through_a_stolen_task_of_a_request_on_the_same_stack_are_named_errors) {
  for (int round = 0; round < 50; ++round) {
    runtime rt(runtime_options{.workers = 2});
    std::atomic<bool> made{false};
    std::atomic<bool> is_begun{false};
    std::atomic<bool> is_stolen{false};
    std::atomic<bool> is_told{false};
    future<void> first;
    auto keeps_the_thief = rt.submit([&] { until(is_begun); });
    first = rt.submit([&] {
      until(made);
      auto second = rt.submit([&] {
        join(
            [&] {
              is_begun = true;
              until(is_stolen);
            },
            [&] {
              is_stolen = true;
              try {
                first.wait();
              } catch (const future_waits_for_itself&) {
                is_told = true;
              }
            });
      });
      second.wait();
    });
    made = true;
    rt.shutdown();
    EXPECT_TRUE(is_told);
  }
}

// Requests, and futures made of their futures. Each request waits only for older ones.
TEST_P(future_circles, do_not_exist_if_all_requests_wait_for_older_ones) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
  };
  for (int round = 0; round < 30; ++round) {
    runtime rt(with_workers());
    runtime other(with_workers());
    constexpr std::size_t count = 60;
    std::vector<std::shared_ptr<future<void>>> all;
    std::atomic<int> ended{0};
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::shared_ptr<future<void>>> older;
      for (std::size_t each = i == 0 ? 0 : pick(3); each != 0; --each) older.push_back(all[pick(i)]);
      const auto work = [&ended, older] {
        for (const auto& each : older) each->wait();
        ++ended;
      };
      const auto in_its_way = [&, work, way = pick(4)] {
        if (way == 0) return blocking(work);
        if (way == 1) return other.run(work);
        work();
      };
      auto made = rt.submit(in_its_way);
      switch (pick(4)) {
        case 0:
          made = made.then([] {});
          break;
        case 1:
          made = when_all(std::move(made), rt.submit([] {})).then([](auto) {});
          break;
        case 2:
          made = when_any(std::move(made)).then([](auto) {});
          break;
        default:
          break;
      }
      all.push_back(std::make_shared<future<void>>(std::move(made)));
    }
    for (const auto& each : all) each->wait();
    EXPECT_EQ(ended, static_cast<int>(count));
  }
}

// A thread that waits within blocking() gives its place to another thread only once.
TEST_P(future_circles, do_not_exist_if_requests_wait_within_blocking_across_runtimes) {
  runtime rt(with_workers());
  runtime other(with_workers());
  const auto at = [&](int i) -> runtime& { return i % 2 == 0 ? rt : other; };
  for (int round = 0; round < 100; ++round) {
    constexpr int count = 6;
    std::vector<future<void>> all(count);
    for (int i = 0; i < count; ++i) {
      all[static_cast<std::size_t>(i)] = at(i).submit([&, i] {
        if (i == 0) return;
        blocking([&] { at(i + 1).run([&] { all[static_cast<std::size_t>(i) - 1].wait(); }); });
      });
    }
    all.back().wait();
    for (const auto& each : all) each.wait();
  }
}

INSTANTIATE_TEST_SUITE_P(workers, future_circles, testing::Values(1U, 2U, 4U));

}  // namespace
}  // namespace teff::test
