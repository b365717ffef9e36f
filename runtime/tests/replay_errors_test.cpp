// The errors of record() and replay(), and of a replay that differs from its recording.
#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "workers.hpp"

namespace teff::test {
namespace {

TEST(replay, a_body_that_fulfils_other_keys_than_when_recorded_is_named) {
  runtime rt{{.workers = 2}};
  enum class change { none, another, fewer, more, order } now = change::none;
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).body([&](int k) {
    if (k != 0) return;
    g.fulfill(now == change::order ? 2 : 1);
    if (now != change::fewer) g.fulfill(now == change::order ? 1 : now == change::another ? 3 : 2);
    if (now == change::more) g.fulfill(1);
  });
  auto recorded = record(g, [&] { g.fulfill(0); });
  const auto text = [&](change to) {
    now = to;
    return text_of<replay_differs>([&] { recorded.replay(); });
  };
  EXPECT_EQ(text(change::order), "nothing was thrown");
  EXPECT_EQ(text(change::another),
            "teff::recording::replay: the task 0 fulfilled 3, but not when it was recorded");
  EXPECT_EQ(text(change::fewer),
            "teff::recording::replay: the task 0 fulfilled 1 keys, but 2 when it was recorded");
  EXPECT_EQ(text(change::more),
            "teff::recording::replay: the task 0 fulfilled 3 keys, but 2 when it was recorded");
  EXPECT_EQ(text(change::none), "nothing was thrown");
}

TEST(replay, a_key_that_runs_twice_is_not_recorded) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  int times = 0;
  g.indegree([](int) { return 1; }).body([&](int k) {
    if (++times < 4) g.fulfill(k == 5 ? 6 : 5);
  });
  EXPECT_EQ(text_of<not_replayable>([&] { static_cast<void>(record(g, [&] { g.fulfill(5); })); }),
            "teff::record: the task 5 ran twice, so it can't be told whom it depends on");
  times = 3;
  g.fulfill(5);  // the graph is as before
  g.wait();
  EXPECT_EQ(times, 4);
}

TEST(replay, tasks_of_two_workers_with_the_same_flag_are_refused) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; })
      .place([](int k) { return static_cast<unsigned>(k % 2); })
      .body([&](int k) {
        if (k < 2) g.fulfill(k + 1);
      });
  result_flag one_for_all;
  const auto text = text_of<not_replayable>(
      [&] { static_cast<void>(record(g, [&] { g.fulfill(0); }, {}, [&](int) { return &one_for_all; })); });
  EXPECT_EQ(text, "teff::record: tasks of two workers have the same result_flag");
}

TEST(replay, a_task_of_the_next_iteration_that_is_missing_in_this_one_is_named) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).body([&](int k) { g.fulfill(k + 1); });
  const auto text = text_of<not_replayable>([&] {
    static_cast<void>(record(
        g, [&] { g.fulfill(0); }, [](int k) { return k < 3 ? std::nullopt : std::optional<int>(k + 4); }));
  });
  EXPECT_EQ(text, "teff::record: 3 stands for 7 of the next iteration, which did not run in this one");
}

TEST(replay, a_key_that_arrives_without_counting_is_not_recorded) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; })
      .place([workers = rt.workers()](int k) { return static_cast<unsigned>(k) % workers; })
      .received([](int k) { return k != 3; })
      .body([&](int k) {
        if (k == 0) g.fulfill(3);
      });
  EXPECT_EQ(text_of<not_replayable>([&] { static_cast<void>(record(g, [&] { g.fulfill(0); })); }),
            "teff::record: the key 3 was fulfilled, but received() did not have it count");
}

TEST(replay, a_dependence_that_another_thread_fulfils_is_not_recorded) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).body([&](int k) {
    if (k == 0) std::thread([&] { EXPECT_THROW(g.fulfill(1), not_replayable); }).join();
    if (k == 0) g.fulfill(2);
  });
  EXPECT_EQ(record(g, [&] { g.fulfill(0); }).tasks(), 2U);
}

// The body of task 0 joins with a call of `stolen(g)`. A thief runs that call, which fulfils task 1.
template <class Stolen>
void expect_not_recorded_when_stolen(Stolen stolen) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  std::atomic<bool> begun{false};
  g.indegree([](int) { return 1; }).body([&](int k) {
    if (k != 0) return;
    join(
        [&] {
          while (!begun) std::this_thread::yield();
        },
        [&] {
          begun = true;
          stolen(g);
        });
  });
  EXPECT_THROW(static_cast<void>(record(g, [&] { g.fulfill(0); })), not_replayable);
}

TEST(replay, a_dependence_that_a_stolen_task_fulfils_is_not_recorded) {
  expect_not_recorded_when_stolen([](task_graph<int>& g) { g.fulfill(1); });
}

TEST(replay, a_dependence_that_a_task_of_a_stolen_task_fulfils_is_not_recorded) {
  expect_not_recorded_when_stolen([](task_graph<int>& g) {
    std::atomic<bool> ran{false};
    scope s;
    s.spawn([&] {  // the worker of the body runs this while it waits, and the task that this spawns
      s.spawn([&] {
        ran = true;
        g.fulfill(1);
      });
    });
    // The thief looks at requests for work when it pushes, and may have pushed the first task before one
    // came.
    while (!ran) {
      s.spawn([] {});
      std::this_thread::yield();
    }
  });
}

TEST(replay, a_dependence_that_another_graph_fulfils_is_not_recorded) {
  runtime rt{{.workers = 1}};
  task_graph<int> g{rt};
  task_graph<int> other{rt};
  other.indegree([](int) { return 1; }).body([&](int) { g.fulfill(1); });
  g.indegree([](int) { return 1; }).body([&](int k) {
    if (k != 0) return;
    other.fulfill(0);
    other.wait();
  });
  EXPECT_THROW(static_cast<void>(record(g, [&] { g.fulfill(0); })), not_replayable);
}

TEST(replay, a_body_that_is_given_to_replay_must_not_fulfil_keys) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).body([](int) {});
  auto recorded = record(g, [&] { g.fulfill(0); });
  EXPECT_EQ(
      text_of<not_replayable>([&] { recorded.replay(1, [&](int, std::uint64_t) { g.fulfill(1); }); }),
      "teff::task_graph: the key 1 was fulfilled while the graph was recorded or replayed, but not by the "
      "graph's body itself; a body that is given to replay() must not fulfil keys, since the recording has "
      "the dependences");
}

TEST(replay, a_recording_that_was_moved_from_is_refused) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  std::atomic<int> ran{0};
  g.indegree([](int) { return 1; }).body([&](int) { ++ran; });
  auto recorded = record(g, [&] { g.fulfill(0); });
  auto moved_to = std::move(recorded);
  const std::string refusal =
      "teff::recording::replay: this recording was moved from: replay the one that it was moved to";
  EXPECT_EQ(text_of<misuse>([&] { recorded.replay(); }), refusal);
  EXPECT_EQ(text_of<misuse>([&] { recorded.replay(1, [](int, std::uint64_t) {}); }), refusal);
  EXPECT_EQ(recorded.tasks(), 0U);
  EXPECT_EQ(moved_to.tasks(), 1U);
  moved_to.replay(2);
  EXPECT_EQ(ran, 3);
  recorded = std::move(moved_to);
  recorded.replay();
  EXPECT_EQ(ran, 4);
}

TEST(replay, a_call_during_another_one_of_the_same_graph_is_named_and_refused) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).body([](int) {});
  const std::string way_out =
      ": another call records or replays the graph just now: call it when that has returned, or give each "
      "its "
      "own graph";
  auto recorded = record(g, [&] {
    EXPECT_EQ(text_of<misuse>([&] { static_cast<void>(record(g, [] {})); }), "teff::record" + way_out);
    g.fulfill(0);
  });
  static_cast<void>(record(g, [&] {
    EXPECT_EQ(text_of<misuse>([&] { recorded.replay(); }), "teff::recording::replay" + way_out);
  }));
  recorded.replay();
}

TEST(replay, an_error_of_the_recorded_run_arrives_and_leaves_the_graph_usable) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  bool fails = true;
  std::atomic<int> ran{0};
  g.indegree([](int) { return 1; }).body([&](int) {
    ++ran;
    if (fails) throw std::runtime_error("first");
  });
  const auto start = [&] { g.fulfill(0); };
  EXPECT_EQ(text_of<std::runtime_error>([&] { static_cast<void>(record(g, start)); }), "first");
  EXPECT_EQ(text_of<std::runtime_error>([&] {
              static_cast<void>(record(g, [&] {
                g.fulfill(0);
                throw std::runtime_error("of start");
              }));
            }),
            "of start");
  fails = false;
  ran = 0;
  record(g, start).replay(3);
  EXPECT_EQ(ran, 4);
}

TEST(replay, a_replay_in_the_middle_of_a_replay_is_refused) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).body([](int) {});
  auto recorded = record(g, [&] { g.fulfill(0); });
  task_graph<int> h{rt};
  h.indegree([](int) { return 1; }).body([](int) {});
  auto other = record(h, [&] { h.fulfill(0); });
  EXPECT_THROW(recorded.replay(1, [&](int, std::uint64_t) { recorded.replay(); }), misuse);
  EXPECT_THROW(recorded.replay(1, [&](int, std::uint64_t) { other.replay(); }), misuse);
  other.replay();
}

TEST(replay, a_replay_after_shutdown_is_refused) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).body([](int) {});
  auto recorded = record(g, [&] { g.fulfill(0); });
  auto empty = record(g, [] {});
  empty.replay(5);
  EXPECT_EQ(empty.tasks(), 0U);
  recorded.replay(0);
  rt.shutdown();
  EXPECT_THROW(recorded.replay(), runtime_was_shut_down);
}

}  // namespace
}  // namespace teff::test
