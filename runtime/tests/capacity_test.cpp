// A worker publishes the share of its core that the system gives its thread. The tests measure that share by
// the thread's clock of CPU time.
#include "scheduler/scheduler.hpp"
#include "workers.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace teff::test {
namespace {

using key = std::array<int, 2>;  // (task, worker)
constexpr unsigned workers = 2;

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The cores that the process may use.
std::vector<std::size_t> usable_cores() {
  cpu_set_t usable;
  sched_getaffinity(0, sizeof usable, &usable);
  std::vector<std::size_t> cores;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &usable)) cores.push_back(core);
  return cores;
}

void bind_this_thread(std::size_t core) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CPU_SET(core, &mine);
  pthread_setaffinity_np(pthread_self(), sizeof mine, &mine);
}

// Compares what the worker publishes with the share that its thread had, again and again.
class comparison {
 public:
  // Called in a task of the worker, which always has a next task.
  void look(const runtime& rt, unsigned worker) {
    if (pthread_equal(thread_, pthread_self()) == 0) {
      thread_ = pthread_self();
      began_.reset();
    }
    const window now{seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_THREAD_CPUTIME_ID)};
    if (!began_) began_ = now;
    if (now.wall - began_->wall < length) return;
    had_ = (now.ran - began_->ran) / (now.wall - began_->wall);
    published_ = rt.counters(worker).capacity;
    began_ = now;
    ++windows_;
  }
  [[nodiscard]] bool agrees() const { return windows_ != 0 && std::abs(published_ - had_) < 0.15; }
  [[nodiscard]] bool is_below(double share) const { return agrees() && had_ < share && published_ < share; }
  [[nodiscard]] int windows() const { return windows_; }
  [[nodiscard]] std::string text() const {
    return "published " + std::to_string(published_) + ", had " + std::to_string(had_);
  }

 private:
  struct window {
    double wall, ran;
  };
  static constexpr double length = 0.2;  // seconds: longer than a worker remembers

  pthread_t thread_{};
  std::optional<window> began_;
  double had_ = 1;
  double published_ = 1;
  int windows_ = 0;
};

// Each worker runs short tasks with a place that binds, on its own core if there are two. Worker 1 calls
// slow_down() first. Expects that each worker publishes its share, and that worker 1 had at most `most`.
template <class SlowDown>
void expect_share_of_worker_1(double most, SlowDown slow_down) {
  constexpr int most_windows = 100;
  const auto cores = usable_cores();
  runtime rt({.workers = workers, .bind = false});
  std::array<comparison, workers> seen;
  std::atomic<unsigned> agreed{0};  // a bit for each worker
  std::atomic<std::uint64_t> sink{0};
  task_graph<key> tasks(rt);
  tasks.indegree([](key) { return 1; });
  tasks.place([](key k) { return static_cast<unsigned>(k[1]); }, placement::must);
  tasks.body([&](key k) {
    const auto worker = static_cast<unsigned>(k[1]);
    if (k[0] == 0) {
      bind_this_thread(cores[worker % cores.size()]);
      if (worker == 1) slow_down();
    }
    auto sum = static_cast<std::uint64_t>(k[0]);
    for (std::uint64_t i = 0; i < 10'000; ++i) sum = sum * 7 + i;
    sink.fetch_add(sum, std::memory_order_relaxed);
    seen[worker].look(rt, worker);
    const unsigned bit = 1U << worker;
    if (worker == 1 ? seen[1].is_below(most) : seen[0].agrees())
      agreed.fetch_or(bit, std::memory_order_relaxed);
    const bool is_over = agreed.load(std::memory_order_relaxed) == (1U << workers) - 1;
    if (!is_over && seen[worker].windows() < most_windows) tasks.fulfill({k[0] + 1, k[1]});
  });
  // Another thread than the test's, as a guest stays bound.
  std::thread([&] {
    for (int worker = 0; worker < static_cast<int>(workers); ++worker) tasks.fulfill({0, worker});
    tasks.wait();
  }).join();
  EXPECT_EQ(agreed.load(), (1U << workers) - 1)
      << "worker 0: " << seen[0].text() << "; worker 1: " << seen[1].text();
}

TEST(capacity, of_a_worker_beside_a_busy_thread_is_what_that_leaves) {
  std::atomic<bool> is_over{false};
  std::thread busy;
  expect_share_of_worker_1(0.75, [&] {
    busy = std::thread([&] {  // bound as worker 1 is
      while (!is_over.load(std::memory_order_relaxed)) continue;
    });
  });
  is_over = true;
  busy.join();
}

// A control group (version 1) that holds the threads in it to a share of a core.
class quota_group {
 public:
  explicit quota_group(double share)
      : folder_("/sys/fs/cgroup/cpu/teff_capacity_test_" + std::to_string(getpid())) {
    std::error_code failed;
    constexpr int period = 10'000;  // microseconds
    is_there_ = std::filesystem::create_directory(folder_, failed) &&
                write("cpu.cfs_period_us", std::to_string(period)) &&
                write("cpu.cfs_quota_us", std::to_string(static_cast<int>(share * period)));
  }
  // Its threads have ended.
  ~quota_group() {
    std::error_code failed;
    std::filesystem::remove(folder_, failed);
  }
  quota_group(const quota_group&) = delete;
  quota_group& operator=(const quota_group&) = delete;

  [[nodiscard]] bool is_there() const { return is_there_; }
  [[nodiscard]] bool take_this_thread() const { return write("tasks", std::to_string(syscall(SYS_gettid))); }

 private:
  [[nodiscard]] bool write(const char* file, const std::string& text) const {
    return static_cast<bool>(std::ofstream(folder_ / file) << text << std::flush);
  }

  const std::filesystem::path folder_;
  bool is_there_ = false;
};

TEST(capacity, of_a_worker_with_a_quota_is_the_quota) {
  const quota_group group(0.4);
  if (!group.is_there())
    GTEST_SKIP() << "no control group of version 1 can be made, which has single threads";
  expect_share_of_worker_1(0.55, [&] { EXPECT_TRUE(group.take_this_thread()); });
}

TEST(capacity, of_workers_that_share_no_core_is_their_number) {
  const runtime rt({.workers = 3});
  EXPECT_EQ(rt.counters().capacity, 3);
  EXPECT_EQ(rt.counters(1).capacity, 1);
}

}  // namespace
}  // namespace teff::test
