#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "allocations.hpp"
#include "workers.hpp"

namespace teff::test {
namespace {

using key = std::array<int, 2>;

// ---- Bodies ----

template <class Body>
concept is_a_body_of_a_recording = requires(recording<key>& r, Body& body) { r.replay(1, body); };

// A generic body sees const arguments, too.
TEST(replay, takes_every_body_that_can_be_called_with_const_arguments_and_no_other) {
  runtime rt{{.workers = 1}};
  task_graph<key> g{rt};
  g.indegree([](key) { return 0; }).body([](key) {});
  auto recorded = record(g, [&] { g.fulfill({2, 3}); });
  int sum = 0;
  const auto run = [&](auto body) {
    static_assert(is_a_body_of_a_recording<decltype(body)>);
    recorded.replay(2, body);
  };
  run([&](const key& k, const std::uint64_t&) { sum += k[0]; });
  run([&](auto& k, auto& i) { sum += k[0] + 0 * static_cast<int>(i); });
  run([&](auto&& k, auto&& i) { sum += k[0] + 0 * static_cast<int>(i); });
  run([&](auto k, auto i) { sum += k[0] + 0 * static_cast<int>(i); });
  EXPECT_EQ(sum, 4 * 2 * 2);
  static_assert(is_a_body_of_a_recording<void (*)(key, std::uint64_t)>);
  static_assert(!is_a_body_of_a_recording<void (*)(key&, std::uint64_t)>);
  static_assert(!is_a_body_of_a_recording<void (*)(key, std::uint64_t&)>);
  static_assert(!is_a_body_of_a_recording<void (*)(key, std::uint64_t&&)>);
  static_assert(!is_a_body_of_a_recording<void (*)(key)>);
}

// ---- Random graphs ----

// Tasks in layers. Each task checks that its predecessors have run once more often than it has.
class random_graph {
 public:
  enum class places { none, all, some };

  random_graph(runtime& rt, std::uint64_t seed, places where) : graph_(rt) {
    std::mt19937_64 random(seed);
    layers_ = 1 + static_cast<int>(random() % 12);
    width_ = 1 + static_cast<int>(random() % 20);
    const auto size = static_cast<std::size_t>(layers_ * width_);
    ran_ = std::vector<std::atomic<int>>(size);
    flags_ = std::vector<result_flag>(size);
    before_.resize(size);
    after_.resize(size);
    for (int layer = 1; layer < layers_; ++layer) {
      for (int to = 0; to < width_; ++to) {
        for (int from = 0; from < width_; ++from) {
          const int earlier = layer - 1 - static_cast<int>(random() % 3);
          if (random() % 6 != 0 || earlier < 0) continue;
          before_[index({layer, to})].push_back({earlier, from});
          after_[index({earlier, from})].push_back({layer, to});
        }
      }
    }
    graph_.indegree([this](key k) { return static_cast<int>(before_[index(k)].size()); }).body([this](key k) {
      run(k);
      for (const key& each : after_[index(k)]) graph_.fulfill(each);
    });
    if (where == places::none) return;
    graph_.place([=, workers = rt.workers()](key k) {
      if (where == places::some && k[1] % 3 == 0) return anywhere;
      return static_cast<unsigned>(k[1] * 7 + k[0] / 5) % workers;
    });
  }

  auto record() {
    return teff::record(
        graph_,
        [this] {
          for (int layer = 0; layer < layers_; ++layer) {
            for (int at = 0; at < width_; ++at) {
              if (before_[index({layer, at})].empty()) graph_.fulfill({layer, at});
            }
          }
        },
        {}, [this](key k) { return k[1] % 2 == 0 ? nullptr : &flags_[index(k)]; });
  }
  void run(key k) {
    const int times = ran_[index(k)] + 1;
    for (const key& each : before_[index(k)]) wrong_ += ran_[index(each)] != times;
    ran_[index(k)] = times;
  }
  void expect_all_ran(int times) {
    EXPECT_EQ(wrong_, 0);
    for (auto& each : ran_) ASSERT_EQ(each, times);
  }

 private:
  [[nodiscard]] std::size_t index(key k) const { return static_cast<std::size_t>(k[0] * width_ + k[1]); }

  task_graph<key> graph_;
  int layers_;
  int width_;
  std::vector<std::atomic<int>> ran_;
  std::vector<result_flag> flags_;
  std::vector<std::vector<key>> before_;
  std::vector<std::vector<key>> after_;
  std::atomic<int> wrong_{0};
};

void replay_random_graphs(runtime& rt, std::uint64_t seed, int graphs) {
  using places = random_graph::places;
  for (int i = 0; i < graphs; ++i) {
    for (const auto where : {places::none, places::all, places::some}) {
      random_graph graph(rt, seed + static_cast<std::uint64_t>(i), where);
      auto recorded = graph.record();
      recorded.replay();
      recorded.replay(5);
      rt.run([&] { recorded.replay(3, [&](key k, std::uint64_t) { graph.run(k); }); });
      graph.expect_all_ran(10);
    }
  }
}

TEST(replay, every_dependence_of_random_graphs_holds_in_every_iteration) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  on_runtimes([&](runtime& rt) { replay_random_graphs(rt, seed, under_sanitizer ? 2 : 20); });
}

TEST(replay, workers_that_sleep_at_once_are_woken) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  for (const unsigned workers : worker_counts) {
    runtime rt{{.workers = workers, .spin = std::chrono::microseconds{0}}};
    replay_random_graphs(rt, seed, under_sanitizer ? 1 : 5);
  }
}

// ---- Iterations that overlap ----

// A column adds its neighbours' values of the step before. The stencil keeps the values of two steps.
class stencil {
 public:
  // The flags of the program that tasks raise: none, one for each task, or one for each column.
  enum class flags { none, of_tasks, of_columns };

  stencil(runtime& rt, int width) : width_(width), graph_(rt) {
    for (auto& each : flags_) each = std::vector<result_flag>(static_cast<std::size_t>(width));
    for (auto& each : values_) each.assign(static_cast<std::size_t>(width), 1);
    graph_.indegree([this](key k) { return k[0] == 0 ? 0 : last(k[1]) - first(k[1]) + 1; })
        .place([this, workers = rt.workers()](key k) {
          return static_cast<unsigned>(k[1]) * workers / static_cast<unsigned>(width_);
        })
        .body([this](key k) {
          step(k);
          for (int each = first(k[1]); each <= last(k[1]); ++each) graph_.fulfill({k[0] + 1, each});
        });
  }
  // Records two steps.
  auto record(flags where = flags::none) {
    return teff::record(
        graph_,
        [this] {
          for (int column = 0; column < width_; ++column) graph_.fulfill({0, column});
        },
        [](key k) { return k[0] < 2 ? std::nullopt : std::optional<key>({0, k[1]}); },
        [this, where](key k) {
          auto& of_step = flags_[where == flags::of_columns ? 0 : k[0]];
          return where == flags::none ? nullptr : &of_step[static_cast<std::size_t>(k[1])];
        });
  }
  void step(key k) {
    std::uint64_t sum = 0;
    for (int each = first(k[1]); each <= last(k[1]); ++each) sum += value(k[0], each);
    value(k[0] + 1, k[1]) = sum;
  }
  [[nodiscard]] std::vector<std::uint64_t> after(int steps) {
    std::vector<std::uint64_t> now(static_cast<std::size_t>(width_), 1);
    for (int i = 0; i < steps; ++i) {
      const auto before = now;
      for (int column = 0; column < width_; ++column) {
        now[static_cast<std::size_t>(column)] = 0;
        for (int each = first(column); each <= last(column); ++each)
          now[static_cast<std::size_t>(column)] += before[static_cast<std::size_t>(each)];
      }
    }
    return now;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& values() const { return values_[0]; }

 private:
  [[nodiscard]] static int first(int column) { return std::max(column - 1, 0); }
  [[nodiscard]] int last(int column) const { return std::min(column + 1, width_ - 1); }
  std::uint64_t& value(int step, int column) {
    return values_[static_cast<std::size_t>(step % 2)][static_cast<std::size_t>(column)];
  }

  int width_;
  std::vector<std::uint64_t> values_[2];
  std::vector<result_flag> flags_[2];
  task_graph<key> graph_;
};

TEST(replay, iterations_that_overlap_wait_for_their_predecessors) {
  using flags = stencil::flags;
  on_runtimes([](runtime& rt) {
    for (const int width : {1, 2, 7, 16}) {
      for (const auto where : {flags::none, flags::of_tasks, flags::of_columns}) {
        stencil columns(rt, width);
        auto two_steps = columns.record(where);
        EXPECT_EQ(two_steps.tasks(), static_cast<std::size_t>(2 * width));
        two_steps.replay(100);
        two_steps.replay(100, [&](const key& k, std::uint64_t) { columns.step(k); });
        EXPECT_EQ(columns.values(), columns.after(402));
      }
    }
  });
}

TEST(replay, recordings_with_the_same_flags_are_replayed_in_turn) {
  on_runtimes([](runtime& rt) {
    stencil columns(rt, 6);
    auto one = columns.record(stencil::flags::of_columns);
    auto other = columns.record(stencil::flags::of_tasks);
    for (int i = 0; i < 10; ++i) {
      one.replay(3);
      other.replay(2);
    }
    EXPECT_EQ(columns.values(), columns.after(104));
  });
}

TEST(replay, a_replay_asks_the_graph_nothing_and_allocates_nothing) {
  static std::atomic<int> asked;
  struct counting_hash {
    std::size_t operator()(const key& k) const noexcept {
      ++asked;
      return key_hash<key>{}(k);
    }
  };
  runtime rt{{.workers = 2}};
  std::atomic<int> ran{0};
  task_graph<key, counting_hash> g{rt};
  g.indegree([&](key) { return ++asked, 1; })
      .place([&](key k) { return ++asked, static_cast<unsigned>(k[1]); })
      .body([&](key k) {
        ++ran;
        if (k[0] < 9) g.fulfill({k[0] + 1, 1 - k[1]});
      });
  auto recorded = record(g, [&] {
    g.fulfill({0, 0});
    g.fulfill({0, 1});
  });
  EXPECT_EQ(ran, 20);
  EXPECT_GT(asked.exchange(0), 0);
  recorded.replay();
  // The first time that the main thread takes worker 0's seat, the runtime makes a stack for it.
  auto fewest = allocations();
  for (int round = 0; round < 5; ++round) {
    const auto before = allocations();
    recorded.replay(10);
    fewest = std::min(fewest, allocations() - before);
  }
  EXPECT_EQ(fewest, 0);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(ran, 20 + 20 + 5 * 200);
}

TEST(replay, a_body_that_throws_ends_the_replay_and_arrives_at_the_waiter) {
  on_runtimes([](runtime& rt) {
    stencil columns(rt, 16);
    auto two_steps = columns.record(stencil::flags::of_tasks);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(text_of<std::runtime_error>([&] {
                  two_steps.replay(1000, [&](const key& k, std::uint64_t at) {
                    if (at == 7 && k == key{i % 2, i % 16}) throw std::runtime_error("seven");
                    if (at > 16) throw std::runtime_error("too far");
                  });
                }),
                "seven");
    }
    two_steps.replay(50);  // the recording can be replayed again
    EXPECT_EQ(columns.values(), columns.after(102));
  });
}

// ---- Beside others ----

TEST(replay, several_recordings_are_replayed_by_workers_and_by_threads_at_once) {
  on_runtimes([](runtime& rt) {
    constexpr int count = 4;
    std::vector<std::unique_ptr<stencil>> all;
    for (int i = 0; i < count; ++i) all.push_back(std::make_unique<stencil>(rt, 3 + i));
    const auto work = [&](stencil& own) {
      auto two_steps = own.record();
      for (int i = 0; i < 20; ++i) two_steps.replay(5);
    };
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < count / 2; ++i)
        threads.emplace_back([&, i] { work(*all[static_cast<std::size_t>(i)]); });
      rt.run([&] { join([&] { work(*all[2]); }, [&] { work(*all[3]); }); });
    }
    for (auto& each : all) EXPECT_EQ(each->values(), each->after(202));
  });
}

// A thread destroys its recording as soon as the replay has ended. The worker that ended the replay may begin
// the next one already.
TEST(replay, a_recording_may_be_destroyed_while_other_threads_replay_others) {
  runtime rt{{.workers = 2}};
  const auto replay_often = [&rt](int tasks) {
    for (int round = 0; round < 100; ++round) {
      task_graph<int> g{rt};
      std::atomic<int> ran{0};
      g.indegree([](int) { return 1; }).place([workers = rt.workers()](int i) {
        return static_cast<unsigned>(i) % workers;
      });
      g.body([&ran](int) { ++ran; });
      auto recorded = record(g, [&] {
        for (int i = 0; i < tasks; ++i) g.fulfill(i);
      });
      recorded.replay(20);
      EXPECT_EQ(ran, tasks * 21);
    }
  };
  std::vector<std::jthread> threads;
  for (const int tasks : {2, 1, 1}) threads.emplace_back(replay_often, tasks);
}

TEST(replay, bodies_may_join_while_other_threads_run_tasks) {
  on_runtimes([](runtime& rt) {
    stencil columns(rt, 8);
    auto two_steps = columns.record();
    const std::jthread beside([&] {
      for (int i = 0; i < 20; ++i) EXPECT_EQ(rt.run([] { return fib(12); }), 144);
    });
    two_steps.replay(20, [&](const key& k, std::uint64_t) {
      EXPECT_EQ(fib(8), 21);
      columns.step(k);
    });
    EXPECT_EQ(columns.values(), columns.after(42));
  });
}

TEST(replay, the_recording_outlives_its_graph) {
  runtime rt{{.workers = 2}};
  std::atomic<int> ran{0};
  auto recorded = [&] {
    task_graph<int> g{rt};
    g.indegree([](int) { return 1; }).body([&ran](int) { ++ran; });
    return record(g, [&] { g.fulfill(0); });
  }();
  recorded.replay(2);
  EXPECT_EQ(ran, 3);
}

}  // namespace
}  // namespace teff::test
