// A program that is compiled without exceptions. Its argument names the misuse that it commits, if any.
#include <teff/replay.hpp>
#include <teff/teff.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

namespace {

long fib(long n) {
  if (n < 2) return n;
  auto [a, b] = teff::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

bool fork_join(teff::runtime& rt) {
  std::vector<int> ran(100, 0);
  const long sum = rt.run([&] {
    teff::scope tasks;
    for (int& each : ran) tasks.spawn([&each] { ++each; });
    auto forked = teff::fork([] { return fib(10); });
    return fib(15) + forked.get();
  });
  return sum == 610 + 55 && std::ranges::count(ran, 1) == 100;
}

bool loops() {
  std::vector<long> numbers(10'000);
  std::iota(numbers.begin(), numbers.end(), 0L);
  teff::parallel_for(numbers, [](long& each) { each *= 2; });
  const long sum = teff::parallel_reduce(numbers, 0L, std::plus<>{});
  teff::parallel_sort(numbers, std::greater<>{});
  int next = 0;
  int tokens = 0;
  teff::parallel_pipeline(4, teff::serial([&] { return next < 50 ? std::optional(next++) : std::nullopt; }),
                          teff::parallel([](int token) { return token + 1; }),
                          teff::serial([&](int) { ++tokens; }));
  return sum == 9'999L * 10'000 && numbers.front() == 19'998 && tokens == 50;
}

bool graphs(teff::runtime& rt) {
  std::vector<int> ran(100, 0);
  teff::task_graph<int> graph{rt};
  graph.indegree([](int) { return 1; }).body([&](int i) {
    ++ran[static_cast<std::size_t>(i)];
    if (i < 99) graph.fulfill(i + 1);
  });
  graph.fulfill(0);
  graph.wait();
  auto recorded = teff::record(graph, [&] { graph.fulfill(0); });
  recorded.replay(1);
  return std::ranges::count(ran, 3) == 100;
}

bool requests(teff::runtime& rt) {
  auto sum = rt.submit([] { return 20; }).then([](int half) { return 2 * half; });
  return sum.get() == 40;
}

}  // namespace

int main(int, char** argv) {
  teff::runtime rt{{.workers = 3}};
  if (std::strcmp(argv[1], "misuse of a header") == 0) teff::parallel_for(0, 10, 0, [](int) {});
  if (std::strcmp(argv[1], "misuse of the library") == 0) rt.run([&] { rt.shutdown(); });
  const bool right = fork_join(rt) && loops() && graphs(rt) && requests(rt);
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
