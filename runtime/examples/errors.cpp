// Every error that libteff names, and what it says.
#include <teff/teff.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <exception>
#include <stop_token>

namespace {

template <class Error, class F>
void expect(const char* name, F wrong) {
  try {
    wrong();
    std::printf("%s: nothing was thrown\n", name);
  } catch (const Error& error) {
    std::printf("%s\n  %s\n", name, error.what());
  }
}

}  // namespace

int main() {
  teff::runtime rt{{.workers = 2}};
  using key = std::array<int, 2>;

  expect<teff::never_satisfied>("never_satisfied", [&] {
    teff::task_graph<key> graph{rt};
    graph.indegree([](key) { return 2; }).body([](key) {});
    graph.fulfill({3, 4});  // and nobody does so again
    graph.wait();
  });

  expect<teff::over_fulfilled>("over_fulfilled", [&] {
    teff::task_graph<key> graph{rt};
    graph.indegree([](key) { return 1; });
    graph.body([&](key k) { graph.fulfill(k); });  // it runs already
    graph.fulfill({0, 0});
    graph.wait();
  });

  expect<teff::negative_indegree>("negative_indegree", [&] {
    teff::task_graph<int> graph{rt};
    graph.indegree([](int k) { return k - 8; }).body([](int) {});
    graph.fulfill(7);
    graph.wait();
  });

  expect<teff::graph_waits_for_itself>("graph_waits_for_itself", [&] {
    teff::task_graph<int> graph{rt};
    graph.indegree([](int) { return 0; }).body([&](int) { graph.wait(); });
    graph.fulfill(7);
    graph.wait();
  });

  expect<teff::not_replayable>("not_replayable", [&] {
    teff::task_graph<key> graph{rt};
    graph.indegree([](key) { return 1; }).body([&, left = 2](key k) mutable {
      if (left-- > 0) graph.fulfill({0, 3 - k[1]});  // (0, 2), then (0, 1) again
    });
    static_cast<void>(teff::record(graph, [&] { graph.fulfill({0, 1}); }));
  });

  expect<teff::replay_differs>("replay_differs", [&] {
    teff::task_graph<key> graph{rt};
    int width = 2;
    graph.indegree([](key) { return 1; }).body([&](key k) {
      for (int i = 0; k[0] == 0 && i < width; ++i) graph.fulfill({1, i});
    });
    auto recorded = teff::record(graph, [&] { graph.fulfill({0, 0}); });
    width = 3;
    recorded.replay();
  });

  expect<teff::request_stopped>("request_stopped", [&] {
    std::stop_source stop;
    stop.request_stop();
    rt.submit(stop.get_token(), [] {}).get();
  });

  expect<teff::future_waits_for_itself>("future_waits_for_itself", [&] {
    teff::future<void> itself;
    std::atomic<bool> known{false};
    itself = rt.submit([&] {
      known.wait(false);
      itself.wait();
    });
    known = true;
    known.notify_one();
    itself.get();
  });

  expect<teff::misuse>("misuse", [&] {
    rt.run([] {
      auto older = teff::fork([] {});
      auto newer = teff::fork([] {});
      older.get();
    });
  });

  std::fflush(stdout);
  if (const pid_t child = ::fork(); child != 0) {
    ::waitpid(child, nullptr, 0);
  } else {
    expect<teff::forked_process>("forked_process", [&] { rt.run([] {}); });
    std::fflush(stdout);
    ::_exit(0);
  }

  expect<teff::runtime_was_shut_down>("runtime_was_shut_down", [&] {
    rt.shutdown();
    rt.run([] {});
  });

  expect<teff::invalid_option>("invalid_option", [] { const teff::runtime tiny{{.stack_size = 1'000}}; });
}
