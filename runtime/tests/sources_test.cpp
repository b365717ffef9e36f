// Sources of work come and go while workers look at them.
#include <teff/detail/scheduler/source.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

// Counts the calls of run(), and knows whether one is in progress.
class counting_source : public detail::source {
 public:
  bool run(unsigned) noexcept override {
    ++inside;
    std::this_thread::yield();
    const bool worked = ++runs <= work;
    --inside;
    return worked;
  }
  bool sees_work(unsigned) noexcept override {
    ++inside;
    std::this_thread::yield();
    --inside;
    return runs < work;
  }
  std::atomic<int> inside{0};
  std::atomic<int> runs{0};
  std::atomic<int> work{0};  // run() finds something so many times
};

TEST(sources, no_worker_uses_a_source_that_was_detached) {
  on_runtimes([](runtime& rt) {
    auto& of = detail::private_access::internals(rt);
    // Other sources stay.
    const auto before = std::make_shared<counting_source>();
    before->work = 1'000'000'000;  // so that no worker sleeps
    detail::attach(of, before);
    detail::published(of);
    const int rounds = under_sanitizer ? 20 : 100;
    for (int round = 0; round < rounds; ++round) {
      const auto each = std::make_shared<counting_source>();
      each->work = 1'000'000'000;
      detail::attach(of, each);
      if (round % 2 == 0) {
        while (each->runs == 0) std::this_thread::yield();
      }
      detail::detach(of, *each);
      ASSERT_EQ(each.use_count(), 1);
      ASSERT_EQ(each->inside, 0);
      const int runs = each->runs;
      std::this_thread::yield();
      ASSERT_EQ(each->runs, runs);
    }
    detail::detach(of, *before);
  });
}

// A source whose run() returns only when it is detached.
class patient_source : public detail::source {
 public:
  bool run(unsigned) noexcept override {
    entered = true;
    while (!is_being_detached()) std::this_thread::yield();
    return true;
  }
  bool sees_work(unsigned) noexcept override { return true; }
  std::atomic<bool> entered{false};
};

TEST(sources, a_source_that_is_detached_says_so_to_the_workers_in_it) {
  on_runtimes([](runtime& rt) {
    const auto patient = std::make_shared<patient_source>();
    for (int round = 0; round < 3; ++round) {  // attached again it is as new
      patient->entered = false;
      detail::attach(detail::private_access::internals(rt), patient);
      detail::published(detail::private_access::internals(rt));
      while (!patient->entered) std::this_thread::yield();
      detail::detach(detail::private_access::internals(rt), *patient);
      ASSERT_EQ(patient.use_count(), 1);
    }
  });
}

// A source whose answers the test gives.
class scripted_source : public detail::source {
 public:
  bool run(unsigned) noexcept override { return runs(); }
  bool sees_work(unsigned) noexcept override { return sees(); }
  std::function<bool()> runs = [] { return false; };
  std::function<bool()> sees = [] { return false; };
};

// A worker that leaves the search last, because it has found a source with work, looks at all sources once
// more. The source that it found may be detached meanwhile.
TEST(sources, a_source_that_goes_while_its_finder_leaves_the_search_is_not_run) {
  runtime rt{{.workers = 2}};
  auto& of = detail::private_access::internals(rt);
  const auto looks = std::make_shared<scripted_source>();
  const auto goes = std::make_shared<scripted_source>();
  std::atomic<bool> offers{false};
  std::atomic<bool> found{false};
  std::atomic<bool> looked_again{false};
  std::atomic<bool> gone{false};
  std::atomic<bool> ran{false};
  std::atomic<bool> ran_when_gone{false};
  goes->sees = [&] {
    if (!offers.exchange(false)) return false;
    found = true;
    return true;
  };
  goes->runs = [&] {
    if (gone) ran_when_gone = true;
    ran = true;
    return false;
  };
  looks->sees = [&] {
    if (!found || gone) return false;
    looked_again = true;
    while (!gone) std::this_thread::yield();
    return false;
  };
  detail::attach(of, looks);
  detail::attach(of, goes);
  while (rt.counters().parks < rt.workers()) std::this_thread::yield();
  offers = true;
  detail::published(of);
  // `ran` alone: another worker was searching, so the finder did not look again.
  while (!looked_again && !ran) std::this_thread::yield();
  detail::detach(of, *goes);
  gone = true;
  detail::detach(of, *looks);
  EXPECT_FALSE(ran_when_gone);
}

TEST(sources, all_are_looked_at_however_many_there_are) {
  runtime rt{{.workers = 2}};
  auto& of = detail::private_access::internals(rt);
  std::vector<std::shared_ptr<counting_source>> all;
  for (int i = 0; i < 200; ++i) {
    all.push_back(std::make_shared<counting_source>());
    all.back()->work = 1;
    detail::attach(of, all.back());
    // Some sources go before others come.
    if (i % 3 == 2) {
      detail::detach(of, *all[all.size() - 2]);
      all.erase(all.end() - 2);
    }
  }
  detail::published(of);
  for (const auto& each : all) {
    while (each->runs == 0) std::this_thread::yield();
  }
  for (const auto& each : all) detail::detach(of, *each);
}

TEST(sources, a_source_that_always_has_work_does_not_hide_others) {
  runtime rt{{.workers = 1}};
  auto& of = detail::private_access::internals(rt);
  const auto greedy = std::make_shared<counting_source>();
  const auto modest = std::make_shared<counting_source>();
  greedy->work = 100'000;
  modest->work = 1;
  detail::attach(of, greedy);
  detail::attach(of, modest);
  detail::published(of);
  while (modest->runs == 0) std::this_thread::yield();
  EXPECT_LT(greedy->runs, 100'000);
  detail::detach(of, *greedy);
  detail::detach(of, *modest);
}

}  // namespace
}  // namespace teff::test
