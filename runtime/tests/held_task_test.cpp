// Tasks of a graph that end later than their bodies.
#include <gtest/gtest.h>
#include <teff/loopback.hpp>
#include <teff/teff.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

TEST(held_task, keeps_the_graph_from_rest_until_another_thread_releases_it) {
  on_runtimes([](runtime& rt) {
    for (const bool placed : {true, false}) {
      for (int round = 0; round < 20; ++round) {
        std::atomic<bool> done{false};
        std::thread later;
        task_graph<int> g{rt};
        g.indegree([](int) { return 0; }).body([&](int) {
          later = std::thread([&done, held = g.hold_end()]() mutable {
            done = true;
            held.release();
          });
        });
        if (placed) g.place([](int) { return 0U; });
        g.fulfill(0);
        g.wait();
        EXPECT_TRUE(done);
        later.join();
      }
    }
  });
}

TEST(held_task, lets_the_thread_that_releases_it_fulfil_what_follows) {
  on_runtimes([](runtime& rt) {
    constexpr int length = 200;
    for (const bool placed : {true, false}) {
      std::mutex mutex;
      std::vector<std::pair<int, held_task>> asked;
      std::atomic<int> ran{0};
      task_graph<int> g{rt};
      g.indegree([](int) { return 1; }).body([&](int k) {
        ++ran;
        auto held = g.hold_end();
        const std::lock_guard lock(mutex);
        asked.emplace_back(k, std::move(held));
      });
      if (placed) g.place([&](int k) { return static_cast<unsigned>(k) % rt.workers(); });
      std::thread answers([&] {
        for (int answered = 0; answered < length;) {
          std::vector<std::pair<int, held_task>> some;
          {
            const std::lock_guard lock(mutex);
            some.swap(asked);
          }
          for (auto& [k, held] : some) {
            if (k + 1 < length) g.fulfill(k + 1);
            held.release();
            ++answered;
          }
          if (some.empty()) std::this_thread::yield();
        }
      });
      g.fulfill(0);
      g.wait();
      EXPECT_EQ(ran, length);
      answers.join();
    }
  });
}

TEST(held_task, ends_with_the_body_where_it_was_released_before) {
  on_runtimes([](runtime& rt) {
    int ran = 0;
    task_graph<int> g{rt};
    g.indegree([](int) { return 1; }).body([&](int k) {
      ++ran;
      auto first = g.hold_end();
      auto second = g.hold_end();
      auto moved = std::move(first);
      EXPECT_FALSE(first);
      EXPECT_TRUE(moved);
      second.release();
      if (k < 100) g.fulfill(k + 1);
    });
    g.fulfill(0);
    g.wait();
    EXPECT_EQ(ran, 101);
  });
}

TEST(held_task, is_one_fulfilment_too_many_for_its_key_until_it_ends) {
  on_runtimes([](runtime& rt) {
    for (const bool placed : {true, false}) {
      held_task held;
      int ran = 0;
      task_graph<int> g{rt};
      g.indegree([](int) { return 1; }).body([&](int k) {
        if (k == 0) {
          ++ran;
          held = g.hold_end();
          g.fulfill(1);
        } else {
          g.fulfill(0);
          held.release();
        }
      });
      if (placed) g.place([](int) { return 0U; }, placement::must);
      g.fulfill(0);
      EXPECT_THROW(g.wait(), over_fulfilled);
      EXPECT_EQ(ran, 1);
    }
  });
}

TEST(held_task, of_a_key_ends_so_that_the_key_can_be_fulfilled_again) {
  on_runtimes([](runtime& rt) {
    int ran = 0;
    task_graph<int> g{rt};
    g.indegree([](int) { return 1; }).body([&](int) {
      ++ran;
      std::thread([held = g.hold_end()]() mutable { held.release(); }).join();
    });
    for (int i = 0; i < 3; ++i) {
      g.fulfill(7);
      g.wait();
    }
    EXPECT_EQ(ran, 3);
  });
}

TEST(held_task, that_fails_fails_its_graph) {
  on_runtimes([](runtime& rt) {
    std::thread later;
    task_graph<int> g{rt};
    g.indegree([](int) { return 1; }).body([&](int) {
      later = std::thread([held = g.hold_end()]() mutable {
        held.fail(std::make_exception_ptr(std::runtime_error("no answer")));
      });
    });
    g.fulfill(0);
    EXPECT_THROW(g.wait(), std::runtime_error);
    later.join();
  });
}

TEST(held_task, that_fails_first_of_several_has_its_error_thrown) {
  on_runtimes([](runtime& rt) {
    task_graph<int> g{rt};
    g.indegree([](int) { return 1; }).body([&](int) {
      auto first = g.hold_end();
      auto second = g.hold_end();
      first.fail(std::make_exception_ptr(std::runtime_error("first")));
      second.fail(std::make_exception_ptr(std::runtime_error("second")));
      throw std::runtime_error("third");
    });
    g.fulfill(0);
    try {
      g.wait();
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "first");
    }
  });
}

TEST(held_task, is_waited_for_after_a_failure_too) {
  on_runtimes([](runtime& rt) {
    std::atomic<bool> released{false};
    std::thread later;
    task_graph<int> g{rt};
    g.indegree([](int) { return 1; }).body([&](int) {
      later = std::thread([&released, held = g.hold_end()]() mutable {
        released = true;
        held.release();
      });
      throw std::runtime_error("after the hold");
    });
    g.fulfill(0);
    EXPECT_THROW(g.wait(), std::runtime_error);
    EXPECT_TRUE(released);
    later.join();
  });
}

// The closure of a task is destroyed at its end. All workers are busy while the end and a task come.
TEST(held_task, whose_end_waits_keeps_no_task_from_running) {
  class waits_at_end {
   public:
    explicit waits_at_end(future<void>& awaited) : awaited_(awaited) {}
    waits_at_end(const waits_at_end&) = delete;
    waits_at_end& operator=(const waits_at_end&) = delete;
    ~waits_at_end() { awaited_.wait(); }

   private:
    future<void>& awaited_;
  };
  on_runtimes([](runtime& rt) {
    promise<void> given;
    auto later = given.get_future();
    flow f{rt};
    held_task held;
    std::atomic<bool> returned{false};
    std::atomic<unsigned> busy{0};
    std::atomic<bool> all_came{false};
    int a = 0;
    int b = 0;
    std::vector<int> each_worker(rt.workers());
    f.task(out(a), [&, waits = std::make_shared<waits_at_end>(later)] {
      held = hold_end();
      returned = true;
    });
    while (!returned) std::this_thread::yield();
    for (auto& each : each_worker)
      f.task(out(each), [&] {
        ++busy;
        while (!all_came) std::this_thread::yield();
      });
    while (busy != rt.workers()) std::this_thread::yield();
    held.release();
    f.task(out(b), [&] { given.set_value(); });
    all_came = true;
    f.wait();
  });
}

TEST(held_task, names_what_is_wrong_with_a_handle) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).body([&](int) {
    auto held = g.hold_end();
    held.release();
    EXPECT_NE(text_of<misuse>([&] { held.release(); }).find("holds no task: it was released"),
              std::string::npos);
  });
  g.fulfill(0);
  g.wait();
  EXPECT_NE(text_of<misuse>([&] { static_cast<void>(g.hold_end()); }).find("outside the graph's bodies"),
            std::string::npos);
}

TEST(held_task, is_refused_where_the_graph_is_recorded) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).body([&](int) { static_cast<void>(g.hold_end()); });
  EXPECT_THROW(static_cast<void>(record(g, [&] { g.fulfill(0); })), not_replayable);
}

}  // namespace
}  // namespace teff::test
