#include "workers.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

// Each thread waits until so many threads have arrived. So the meeting ends only if all of them can run.
class meeting {
 public:
  explicit meeting(int people) : missing_(people) {}
  void arrive_and_wait() {
    --missing_;
    for (int left = missing_; left > 0; left = missing_) missing_.wait(left);
    missing_.notify_all();
  }

 private:
  std::atomic<int> missing_;
};

TEST(blocking, has_the_value_or_the_exception_of_the_call) {
  on_runtimes([](runtime& rt) {
    rt.run([] {
      EXPECT_EQ(blocking([] { return std::string("value"); }), "value");
      int target = 1;
      blocking([&]() -> int& { return target; }) = 2;
      EXPECT_EQ(target, 2);
      blocking([&] { target = 3; });
      EXPECT_EQ(target, 3);
      EXPECT_THROW(blocking([] { throw std::out_of_range("f"); }), std::out_of_range);
    });
  });
}

TEST(blocking, off_a_worker_is_a_plain_call) {
  EXPECT_EQ(blocking([] { return std::this_thread::get_id(); }), std::this_thread::get_id());
  runtime rt{{.workers = 1}};
  EXPECT_NE(rt.run([] { return blocking([] { return std::this_thread::get_id(); }); }),
            rt.run([] { return std::this_thread::get_id(); }));
  EXPECT_FALSE(rt.run([] { return blocking([] { return worker_index(); }); }).has_value());
}

TEST(blocking, twenty_tasks_of_a_scope_block_at_once) {
  on_runtimes([](runtime& rt) {
    meeting all(20);
    rt.run([&] {
      scope s;
      for (int i = 0; i < 20; ++i) s.spawn([&] { blocking([&] { all.arrive_and_wait(); }); });
    });
  });
}

TEST(blocking, twenty_requests_block_at_once) {
  on_runtimes([](runtime& rt) {
    meeting all(20);
    std::vector<future<void>> requests;
    for (int i = 0; i < 20; ++i)
      requests.push_back(rt.submit([&] { blocking([&] { all.arrive_and_wait(); }); }));
    for (auto& each : requests) each.get();
  });
}

TEST(blocking, branches_of_a_join_block_at_once) {
  on_runtimes([](runtime& rt) {
    meeting all(3);
    const auto block = [&] { blocking([&] { all.arrive_and_wait(); }); };
    rt.run([&] { join(block, block, block); });
  });
}

TEST(blocking, a_worker_runs_other_work_meanwhile) {
  runtime rt{{.workers = 1}};
  std::atomic<bool> ran{false};
  rt.run([&] {
    scope s;
    s.spawn([&] {
      ran = true;
      ran.notify_all();
    });
    blocking([&] { ran.wait(false); });
  });
  EXPECT_TRUE(ran);
}

// Has every worker wait within a request, in the way of `wait`, and makes calls of run() meanwhile.
template <class Wait>
void while_all_workers_wait(Wait wait) {
  for (const unsigned workers : {1U, 2U, 4U}) {
    runtime rt{{.workers = workers}};
    std::atomic<bool> go_on{false};
    std::atomic<unsigned> waiting{0};
    const auto blocks = [&] {
      blocking([&] {
        ++waiting;
        waiting.notify_all();
        go_on.wait(false);
      });
    };
    std::vector<future<void>> all;
    for (unsigned i = 0; i < workers; ++i) all.push_back(rt.submit([&] { wait(rt, blocks); }));
    for (unsigned now = 0; now != workers; now = waiting) waiting.wait(now);
    std::atomic<int> ran{0};
    rt.run([&] { parallel_for(0, 1000, [&](int) { ++ran; }); });
    rt.run([&] { join([&] { ++ran; }, [&] { ++ran; }); });
    EXPECT_EQ(ran, 1002);
    go_on = true;
    go_on.notify_all();
    for (auto& each : all) each.get();
  }
}

TEST(blocking, a_call_of_run_begins_though_all_workers_wait) {
  while_all_workers_wait([](runtime&, auto blocks) { blocks(); });
  while_all_workers_wait([](runtime& rt, auto blocks) { rt.submit([=] { blocks(); }).get(); });
  while_all_workers_wait([](runtime&, auto blocks) {
    scope s;
    s.spawn([=] { blocks(); });
    s.wait();
  });
  while_all_workers_wait([](runtime& rt, auto blocks) {
    task_graph<int> graph{rt};
    graph.indegree([](int) { return 1; }).body([=](int) { blocks(); });
    graph.fulfill(0);
    graph.wait();
  });
}

// Some workers sleep before the calls come, others go to sleep while calls wait.
TEST(blocking, calls_of_run_from_many_threads_begin_though_workers_go_to_sleep) {
  runtime rt{{.workers = 2}};
  for (int round = 0; round < 200; ++round) {
    std::atomic<bool> go_on{false};
    std::vector<future<void>> all;
    for (int i = 0; i < 2; ++i) all.push_back(rt.submit([&] { blocking([&] { go_on.wait(false); }); }));
    std::atomic<int> ran{0};
    {
      std::vector<std::jthread> callers;
      for (int i = 0; i < 3; ++i) callers.emplace_back([&] { rt.run([&] { ++ran; }); });
    }
    EXPECT_EQ(ran, 3);
    go_on = true;
    go_on.notify_all();
    for (auto& each : all) each.get();
  }
}

TEST(blocking, beyond_the_bound_of_spare_threads_is_a_plain_call) {
  runtime rt{{.workers = 2, .spare_threads = 1}};
  std::atomic<int> ran{0};
  rt.run([&] {
    scope s;
    for (int i = 0; i < 50; ++i) s.spawn([&] { blocking([&] { ++ran; }); });
  });
  EXPECT_EQ(ran, 50);
  EXPECT_THROW((runtime{{.workers = 1, .spare_threads = 100'000}}), invalid_option);
}

// As where the C library gives threads little by default.
TEST(blocking, spare_threads_have_eight_mebibytes_of_stack_and_a_name) {
  pthread_attr_t before;
  ASSERT_EQ(::pthread_getattr_default_np(&before), 0);
  pthread_attr_t little;
  ASSERT_EQ(::pthread_getattr_default_np(&little), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&little, std::size_t{1} << 20), 0);
  ASSERT_EQ(::pthread_setattr_default_np(&little), 0);
  runtime rt{{.workers = 1}};
  const auto [size, name] = rt.run([] {
    return blocking([] {
      pthread_attr_t here;
      std::size_t bytes = 0;
      ::pthread_getattr_np(::pthread_self(), &here);
      ::pthread_attr_getstacksize(&here, &bytes);
      ::pthread_attr_destroy(&here);
      char called[16] = "";
      ::pthread_getname_np(::pthread_self(), called, sizeof called);
      return std::pair(bytes, std::string(called));
    });
  });
  ::pthread_setattr_default_np(&before);
  ::pthread_attr_destroy(&before);
  ::pthread_attr_destroy(&little);
  EXPECT_GE(size, std::size_t{8} << 20);
  EXPECT_EQ(name, "teff spare");
}

TEST(blocking, spare_threads_are_not_bound_to_a_workers_core) {
  runtime rt{{.workers = 1}};
  const auto usable = std::thread::hardware_concurrency();
  if (usable < 2) GTEST_SKIP() << "one processor";
  const auto mask = rt.run([] {
    return blocking([] {
      cpu_set_t set;
      CPU_ZERO(&set);
      ::sched_getaffinity(0, sizeof set, &set);
      return CPU_COUNT(&set);
    });
  });
  EXPECT_GT(mask, 1);
}

TEST(blocking, nests_with_joins_and_futures) {
  on_runtimes([](runtime& rt) {
    const auto value = rt.submit([&] {
                           auto inner = rt.submit([] { return blocking([] { return fib(10); }); });
                           auto [a, b] =
                               join([&] { return blocking([&] { return rt.run([] { return fib(10); }); }); },
                                    [&] { return inner.get(); });
                           return a + b;
                         }).get();
    EXPECT_EQ(value, 110);
  });
}

}  // namespace
}  // namespace teff::test
