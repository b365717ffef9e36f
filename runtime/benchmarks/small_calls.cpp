// The cost of short calls on a thread that is no worker, and of graphs whose tasks do little.
//
//   teff_small_calls [SHARE [WORKERS]]     a share of the repetitions (1), on some workers (2)
//
// Each row is the best of five runs. It names the call, graph or fulfilment whose time in nanoseconds it
// gives.
#include <teff/future.hpp>
#include <teff/join.hpp>
#include <teff/parallel_graph.hpp>
#include <teff/replay.hpp>
#include <teff/runtime.hpp>
#include <teff/task_graph.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

namespace {

double share = 1;

// `run(times)` repeats the work. `each`: the number of things that one repetition does.
template <class Run>
void measure(const char* what, int times, double each, Run run) {
  using clock = std::chrono::steady_clock;
  times = std::max(1, static_cast<int>(times * share));
  run(times);
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < 5; ++i) {
    const auto began = clock::now();
    run(times);
    best = std::min(best, std::chrono::duration<double, std::nano>(clock::now() - began).count());
  }
  std::printf("%-48s %10.0f ns\n", what, best / times / each);
}

void set_up(teff::task_graph<int>& graph, std::atomic<int>& ran) {
  graph.indegree([](int) { return 1; }).body([&ran](int) { ran.fetch_add(1, std::memory_order_relaxed); });
}

void run_four(teff::task_graph<int>& graph) {
  for (int i = 0; i < 4; ++i) graph.fulfill(i);
  graph.wait();
}

void measure_graphs(teff::runtime& rt, const char* made, const char* used) {
  std::atomic<int> ran{0};
  measure(made, 5'000, 1, [&](int times) {
    for (int i = 0; i < times; ++i) {
      teff::task_graph<int> graph{rt};
      set_up(graph, ran);
      run_four(graph);
    }
  });
  teff::task_graph<int> graph{rt};
  set_up(graph, ran);
  measure(used, 20'000, 1, [&](int times) {
    for (int i = 0; i < times; ++i) run_four(graph);
  });
}

// Four tasks: one, then two, then one.
void measure_known_graphs(teff::runtime& rt) {
  std::atomic<int> ran{0};
  constexpr int indegrees[] = {0, 1, 1, 2};
  measure("a parallel_graph of 4 tasks from main", 20'000, 1, [&](int times) {
    for (int i = 0; i < times; ++i) {
      rt.run([&] {
        teff::parallel_graph(
            4, [&](int task) { return indegrees[task]; },
            [&](int task, const auto& release) {
              ran.fetch_add(1, std::memory_order_relaxed);
              if (task == 0) {
                release(1);
                release(2);
              } else if (task < 3) {
                release(3);
              }
            });
      });
    }
  });
}

void measure_requests(teff::runtime& rt) {
  std::atomic<int> ran{0};
  const auto add = [&ran] { ran.fetch_add(1, std::memory_order_relaxed); };
  measure("a request from main, waited for", 20'000, 1, [&](int times) {
    for (int i = 0; i < times; ++i) rt.submit(add).get();
  });
  constexpr int together = 16;
  measure("16 requests from main, waited for, a request", 2'000, together, [&](int times) {
    for (int i = 0; i < times; ++i) {
      std::vector<teff::future<void>> all;
      for (int each = 0; each < together; ++each) all.push_back(rt.submit(add));
      teff::when_all(std::move(all)).get();
    }
  });
}

// Replays a recording of `width` placed columns of one task each.
void measure_replay(teff::runtime& rt, const char* what, int width, bool from_worker) {
  std::atomic<int> ran{0};
  teff::task_graph<int> graph{rt};
  set_up(graph, ran);
  graph.place([workers = rt.workers()](int i) { return static_cast<unsigned>(i) % workers; });
  auto kept = teff::record(graph, [&] {
    for (int i = 0; i < width; ++i) graph.fulfill(i);
  });
  const auto body = [&ran](int, std::uint64_t) { ran.fetch_add(1, std::memory_order_relaxed); };
  measure(what, 20'000, 1, [&](int times) {
    const auto all = [&] {
      for (int i = 0; i < times; ++i) kept.replay(1, body);
    };
    from_worker ? rt.run(all) : all();
  });
}

void measure_nested_graphs(teff::runtime& rt) {
  measure("2000 tasks with a graph of 4 in each, a task", 1, 2000, [&](int times) {
    for (int i = 0; i < times; ++i) {
      std::atomic<int> ran{0};
      teff::task_graph<int> outer{rt};
      outer.indegree([](int) { return 1; }).body([&](int) {
        teff::task_graph<int> inner{rt};
        set_up(inner, ran);
        run_four(inner);
      });
      for (int task = 0; task < 2000; ++task) outer.fulfill(task);
      outer.wait();
    }
  });
}

// All keys get the first of two fulfilments before any gets the second.
void measure_waiting_keys(teff::runtime& rt, int keys) {
  measure("waiting keys without a place, a fulfilment", 1, 2.0 * keys, [&](int times) {
    for (int i = 0; i < times; ++i) {
      std::atomic<int> ran{0};
      teff::task_graph<int> graph{rt};
      graph.indegree([](int key) { return key < 0 ? 1 : 2; }).body([&](int key) {
        if (key < 0) {
          for (int turn = 0; turn < 2; ++turn) {
            for (int each = 0; each < keys; ++each) graph.fulfill(each);
          }
        } else {
          ran.fetch_add(1, std::memory_order_relaxed);
        }
      });
      graph.fulfill(-1);
      graph.wait();
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  share = argc > 1 ? std::atof(argv[1]) : 1;
  const unsigned workers = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2;
  teff::runtime rt{{.workers = workers}};
  measure("an empty run from main", 50'000, 1, [&](int times) {
    for (int i = 0; i < times; ++i) rt.run([] {});
  });
  std::atomic<int> joined{0};
  const auto add = [&] { joined.fetch_add(1, std::memory_order_relaxed); };
  measure("a join from main, outside any run", 50'000, 1, [&](int times) {
    for (int i = 0; i < times; ++i) teff::join(add, add);
  });
  measure_graphs(rt, "a new graph of 4 tasks from main", "the same, used again");
  rt.run([&] { measure_graphs(rt, "a new graph of 4 tasks on a worker", "the same, used again"); });
  measure_known_graphs(rt);
  measure_requests(rt);
  measure_replay(rt, "a replay of 1 task from main", 1, false);
  measure_replay(rt, "a replay of 2 tasks on 2 workers from main", 2, false);
  measure_replay(rt, "a replay of 1 task on a worker", 1, true);
  measure_replay(rt, "a replay of 2 tasks on 2 workers on a worker", 2, true);
  measure_nested_graphs(rt);
  measure_waiting_keys(rt, std::max(1, static_cast<int>(3e6 * share)));
}
