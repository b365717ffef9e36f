#include "scheduler/scheduler.hpp"
#include "workers.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace teff::test {
namespace {

TEST(runtime, returns_the_value_and_throws_the_exception_of_the_function_that_it_runs) {
  on_runtimes([](runtime& rt) {
    EXPECT_EQ(rt.run([] { return std::string("value"); }), "value");
    int target = 1;
    rt.run([&]() -> int& { return target; }) = 2;
    EXPECT_EQ(target, 2);
    rt.run([&] { target = 3; });
    EXPECT_EQ(target, 3);
    EXPECT_THROW(rt.run([] { throw std::out_of_range("f"); }), std::out_of_range);
    EXPECT_THROW(rt.run([]() -> int { throw std::out_of_range("f"); }), std::out_of_range);
  });
}

TEST(version, is_the_version_of_the_build) {
  EXPECT_STREQ(version(), TEFF_PROJECT_VERSION);
}

TEST(runtime, says_which_worker_runs_a_function) {
  runtime rt{{.workers = 3}};
  EXPECT_EQ(rt.workers(), 3U);
  EXPECT_LT(rt.run([] { return *worker_index(); }), 3U);
  EXPECT_EQ(worker_index(), std::nullopt);
}

TEST(runtime, has_workers_whose_threads_have_names) {
  runtime rt{{.workers = 2}};
  char name[16] = "";
  on_own_thread(rt, 1, [&] { ::pthread_getname_np(::pthread_self(), name, sizeof name); });
  EXPECT_STREQ(name, "teff worker 1");
}

TEST(runtime, run_called_by_its_own_worker_runs_at_once) {
  runtime rt{{.workers = 1}};
  EXPECT_EQ(rt.run([&] { return rt.run([&] { return rt.run([] { return fib(10); }); }); }), 55);
}

TEST(runtime, takes_work_from_several_threads_at_once) {
  on_runtimes([](runtime& rt) {
    std::vector<std::thread> callers;
    std::atomic<long> sum{0};
    for (int caller = 0; caller < 6; ++caller) {
      callers.emplace_back([&] {
        for (int i = 0; i < 50; ++i) sum += rt.run([] { return fib(8); });
      });
    }
    for (auto& caller : callers) caller.join();
    EXPECT_EQ(sum, 6 * 50 * 21);
  });
}

TEST(runtime, several_live_in_one_process_and_call_each_other) {
  runtime outer{{.workers = 2}};
  runtime inner{{.workers = 2}};
  std::atomic<long> sum{0};
  outer.run([&] { parallel_for(0, 20, [&](int) { sum += inner.run([] { return fib(10); }); }); });
  EXPECT_EQ(sum, 20 * 55);
}

TEST(runtime, comes_and_goes_many_times) {
  for (int i = 0; i < 50; ++i) {
    runtime rt{{.workers = 4}};
    if (i % 2 != 0) continue;
    EXPECT_EQ(rt.run([] { return fib(10); }), 55);
  }
}

TEST(runtime, used_after_shutdown_is_a_named_error) {
  runtime rt{{.workers = 2}};
  rt.shutdown();
  rt.shutdown();
  EXPECT_THROW(rt.run([] {}), runtime_was_shut_down);
}

TEST(runtime, shutdown_by_its_own_worker_is_a_named_error) {
  runtime rt{{.workers = 1}};
  rt.run([&] { EXPECT_THROW(rt.shutdown(), misuse); });
}

TEST(runtime, shutdown_waits_for_calls_in_progress) {
  runtime rt{{.workers = 2}};
  std::atomic<bool> begun{false};
  std::atomic<bool> ended{false};
  std::thread caller([&] {
    rt.run([&] {
      begun = true;
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
      ended = true;
    });
  });
  while (!begun) std::this_thread::yield();
  rt.shutdown();
  EXPECT_TRUE(ended);
  caller.join();
}

TEST(runtime, reads_its_options_from_the_environment) {
  ::setenv("TEFF_WORKERS", "5", 1);
  EXPECT_EQ(runtime{}.workers(), 5U);
  EXPECT_EQ(runtime{{.workers = 2}}.workers(), 2U);
  ::unsetenv("TEFF_WORKERS");
}

TEST(runtime, told_to_look_for_work_for_ever_does_not_park) {
  runtime rt{{.workers = 2, .spin = std::chrono::hours(24) * 365}};
  // run() would call it on the calling thread, in a worker's place.
  on_own_thread(rt, 0, [] { EXPECT_EQ(fib(15), 610); });
  const auto searched = [&] { return rt.counters().searching; };
  const auto before = searched();
  while (rt.counters().parks == 0 && searched() - before < std::chrono::milliseconds(20))
    std::this_thread::yield();
  EXPECT_EQ(rt.counters().parks, 0U);
}

// Ends with 0 if the workers of a runtime have few pages though the process has all of its memory locked.
[[noreturn]] void look_at_locked_memory() {
  if (::mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) std::exit(77);
  runtime rt{{.workers = 2}};
  rt.run([] {
    fib(10);
    blocking([] {});
  });
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::exit(usage.ru_maxrss < 200 * 1024 ? 0 : 1);
}

TEST(runtime, takes_memory_as_it_is_used_where_pages_are_locked_when_they_are_used) {
  if (under_address_sanitizer || under_thread_sanitizer) GTEST_SKIP() << "shadow memory would be locked";
  EXPECT_EXIT(
      look_at_locked_memory(), [](int status) { return WIFEXITED(status) && WEXITSTATUS(status) % 77 == 0; },
      "");
}

TEST(runtime, has_no_counters_of_a_worker_that_does_not_exist) {
  runtime rt{{.workers = 2}};
  try {
    static_cast<void>(rt.counters(99));
    FAIL() << "nothing thrown";
  } catch (const misuse& error) {
    EXPECT_STREQ(error.what(), "teff::runtime::counters: there is no worker 99; they are numbered 0 to 1");
  }
}

TEST(runtime, has_as_many_workers_as_the_affinity_mask_has_cores) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(runtime{}.workers(), 1U);
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

// The processors of the calling thread's affinity mask.
std::vector<int> processors_here() {
  cpu_set_t mask;
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return {};
  std::vector<int> processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) processors.push_back(cpu);
  }
  return processors;
}

bool bind_to(const std::vector<int>& processors) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int each : processors) CPU_SET(each, &mask);
  return ::sched_setaffinity(0, sizeof mask, &mask) == 0;
}

// The processors that workers of this runtime keep to.
std::vector<int> kept_processors(runtime& rt) {
  const auto all = processors_here();
  std::vector<int> kept;
  for (const int each : all) {
    EXPECT_TRUE(bind_to({each}));
    if (detail::private_access::internals(rt).worker_of_this_processor() != nullptr) kept.push_back(each);
  }
  EXPECT_TRUE(bind_to(all));
  return kept;
}

// As Open MPI starts a process: the first workers of all ranks would keep to the same processor.
TEST(runtime, beside_ranks_on_the_same_processors_has_no_worker_keep_to_one) {
  if (processors_here().size() < 2) GTEST_SKIP() << "one processor";
  const auto kept = [] {
    runtime rt{{.workers = 1}};
    return kept_processors(rt).size();
  };
  if (kept() == 0) GTEST_SKIP() << "workers keep to no processor here";
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "100000", 1);
  EXPECT_EQ(kept(), 0U);
  setenv("TEFF_BIND", "1", 1);
  EXPECT_EQ(kept(), 1U);
  unsetenv("TEFF_BIND");
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1", 1);
  EXPECT_EQ(kept(), 1U);
  unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
}

// Of the calling thread, of a thread that it begins, and of a process.
bool masks_are(const std::vector<int>& all) {
  std::vector<int> of_a_thread;
  std::thread([&] { of_a_thread = processors_here(); }).join();
  FILE* const output = ::popen("nproc", "r");
  std::size_t of_a_process = 0;
  if (output == nullptr) return false;
  const bool is_read = std::fscanf(output, "%zu", &of_a_process) == 1;
  ::pclose(output);
  return is_read && processors_here() == all && of_a_thread == all && of_a_process == all.size();
}

// Another worker that lends its core narrows the mask of this thread while it moves the thread.
void expect_the_masks_to_be(const std::vector<int>& all) {
  int tries = 5;
  while (!masks_are(all) && --tries > 0) continue;
  EXPECT_GT(tries, 0);
}

TEST(runtime, has_tasks_begin_threads_and_processes_that_may_use_all_cores) {
  ::unsetenv("OMP_NUM_THREADS");  // nproc believes it
  const auto all = processors_here();
  runtime rt{{.workers = 2}};
  for (const unsigned worker : {0U, 1U}) on_own_thread(rt, worker, [&] { expect_the_masks_to_be(all); });
  rt.run([&] { expect_the_masks_to_be(all); });
  rt.run([&] { blocking([&] { expect_the_masks_to_be(all); }); });
}

// hwloc may show fewer processors than the kernel: it reads them from a file here.
TEST(runtime, leaves_the_mask_of_a_caller_whose_processors_hwloc_does_not_show) {
  const auto all = processors_here();
  if (all.size() < 2 || all.front() != 0) GTEST_SKIP() << "the first processor is not ours, or is alone";
  ::setenv("HWLOC_SYNTHETIC", "core:1 pu:1", 1);
  ::setenv("HWLOC_THISSYSTEM", "1", 1);
  runtime rt{{.workers = 1}};
  ::unsetenv("HWLOC_SYNTHETIC");
  ::unsetenv("HWLOC_THISSYSTEM");
  std::vector<int> of_worker;
  on_own_thread(rt, 0, [&] { of_worker = processors_here(); });
  EXPECT_EQ(of_worker, all);
  detail::private_access::internals(rt).move_to_processor_of(0);
  EXPECT_EQ(processors_here(), all);
}

// A caller whose nearest worker is busy runs on another worker's processor.
TEST(runtime, leaves_the_affinity_mask_of_a_caller_as_it_was) {
  const auto all = processors_here();
  if (all.size() < 2) GTEST_SKIP() << "one processor";
  runtime rt{{.workers = 2}};
  std::atomic<int> busy_on{-1};
  std::atomic<bool> stop{false};
  auto busy = rt.submit([&] {
    busy_on = ::sched_getcpu();
    while (!stop) std::this_thread::yield();
  });
  while (busy_on < 0) std::this_thread::yield();
  const std::vector<int> one{busy_on};
  for (const auto& mask : {one, all}) {
    ASSERT_TRUE(bind_to(mask));
    for (int i = 0; i < 100; ++i) rt.run([] {});
    EXPECT_EQ(processors_here(), mask);
    ASSERT_TRUE(bind_to(one));  // beside the busy worker again
  }
  ASSERT_TRUE(bind_to(all));
  stop = true;
  busy.get();
}

// A thread that has lost its core is moved by workers that are about to sleep, and moves itself.
TEST(runtime, leaves_the_mask_of_a_thread_as_it_was_though_several_move_it_at_a_time) {
  const auto all = processors_here();
  if (all.size() < 2) GTEST_SKIP() << "one processor";
  runtime rt{{.workers = 2}};
  auto& internals = detail::private_access::internals(rt);
  const pid_t moved = ::gettid();
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      while (!stop) internals.move_to_processor_of(1, moved);
    });
  const int rounds = under_sanitizer ? 200 : 2000;
  for (int i = 0; i < rounds; ++i) internals.move_to_processor_of(static_cast<unsigned>(i) % 2);
  stop = true;
  for (auto& each : others) each.join();
  EXPECT_EQ(processors_here(), all);
}

TEST(runtime, made_by_a_worker_of_another_has_the_cores_of_the_process) {
  runtime outer{{.workers = 1}};
  const auto alone = runtime{}.workers();
  unsigned beside = 0;
  on_own_thread(outer, 0, [&] { beside = runtime{}.workers(); });
  EXPECT_EQ(beside, alone);
}

TEST(runtime, beside_another_has_its_workers_on_cores_that_the_other_left_free) {
  if (processors_here().size() < 2) GTEST_SKIP() << "one processor";
  runtime first{{.workers = 1}};
  const auto taken = kept_processors(first);
  std::vector<int> beside;
  {
    runtime second{{.workers = 1}};
    beside = kept_processors(second);
    EXPECT_EQ(beside.size(), 1U);
    EXPECT_NE(beside, taken);
  }
  {
    runtime third{{.workers = 1}};
    EXPECT_EQ(kept_processors(third), beside);  // the second runtime has given it back
  }
  first.shutdown();
  runtime fourth{{.workers = 1}};
  EXPECT_EQ(kept_processors(fourth), taken);
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(runtime, without_work_burns_no_cpu) {
  runtime rt{{.workers = 8}};
  rt.run([] { fib(15); });
  while (rt.counters().parks < 8)
    std::this_thread::yield();  // as many as there are workers have gone to sleep
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(1));  // not to synchronise: to have time pass
  EXPECT_LT(cpu_seconds() - before, 0.1);
}

TEST(runtime, jobs_run_on_the_worker_that_they_are_sent_to) {
  runtime rt{{.workers = 4}};
  struct counted_job : detail::job {
    explicit counted_job(std::atomic<int>& jobs_left)
        : job{[](job& self) noexcept {
            auto& me = static_cast<counted_job&>(self);
            me.ran_on = detail::this_worker().index;
            --me.left;
          }},
          left(jobs_left) {}
    std::atomic<int>& left;
    unsigned ran_on = 99;
  };
  std::atomic<int> left{400};
  std::vector<std::unique_ptr<counted_job>> jobs;
  for (unsigned i = 0; i < 400; ++i) {
    jobs.push_back(std::make_unique<counted_job>(left));
    detail::submit_to(detail::private_access::internals(rt), i % 4, *jobs.back());
  }
  while (left != 0) std::this_thread::yield();
  for (unsigned i = 0; i < 400; ++i) EXPECT_EQ(jobs[i]->ran_on, i % 4);
}

TEST(runtime, serial_spawn_of_a_million_tasks_needs_little_memory) {
  const auto peak_kib = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  for (const unsigned workers : {1U, 2U, 4U}) {
    runtime rt{{.workers = workers}};
    rt.run([] {});
    const auto before = peak_kib();
    std::atomic<long> ran{0};
    rt.run([&] {
      scope s;
      for (int i = 0; i < (1 << 20); ++i) s.spawn([&ran] { ran.fetch_add(1, std::memory_order_relaxed); });
    });
    EXPECT_EQ(ran, 1 << 20);
    EXPECT_LT(peak_kib() - before, 16 * 1024);
  }
}

// Calls exit() in a task of a runtime with static storage duration.
template <class Run>
[[noreturn]] void exit_within(Run run) {
  static runtime rt{{.workers = 2}};
  run(rt, [] { std::exit(7); });
  for (;;) ::pause();
}

TEST(runtime, keeps_the_code_of_an_exit_that_one_of_its_tasks_calls) {
  if (under_address_sanitizer) GTEST_SKIP() << "the workers live on, and with them their memory";
  EXPECT_EXIT(exit_within([](runtime& rt, auto exits) { static_cast<void>(rt.submit(exits)); }),
              testing::ExitedWithCode(7), "^$");
  EXPECT_EXIT(exit_within([](runtime& rt, auto exits) { rt.run(exits); }), testing::ExitedWithCode(7), "^$");
  EXPECT_EXIT(exit_within([](runtime& rt, auto exits) {
                rt.run([&] {
                  scope tasks;
                  for (int i = 0; i < 100; ++i) {
                    tasks.spawn([&, i] {
                      if (i == 50) exits();
                    });
                  }
                });
              }),
              testing::ExitedWithCode(7), "^$");
  EXPECT_EXIT(exit_within([](runtime& rt, auto exits) { rt.run([&] { blocking(exits); }); }),
              testing::ExitedWithCode(7), "^$");
}

TEST(runtime, lives_on_if_one_of_its_tasks_destroys_it) {
  auto rt = std::make_unique<runtime>(runtime_options{.workers = 2});
  std::atomic<bool> is_destroyed{false};
  auto sum = rt->submit([&] {
    rt.reset();
    is_destroyed = true;
    is_destroyed.notify_all();
    return fib(15);
  });
  is_destroyed.wait(false);
  EXPECT_EQ(sum.get(), 610);
}

}  // namespace
}  // namespace teff::test
