// Everything that one thread hands to another by libteff, in plain memory: for ThreadSanitizer, which must
// not find anything here.
#include <teff/teff.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

long fib(long n) {
  if (n < 2) return n;
  long here = 0;
  long there = 0;
  teff::join([&] { here = fib(n - 1); }, [&] { there = fib(n - 2); });
  return here + there;
}

long fork_join() {
  std::vector<std::string> words(300);
  {
    teff::scope tasks;
    for (std::size_t i = 0; i < words.size(); ++i)
      tasks.spawn([&words, i] { words[i] = std::to_string(fib(static_cast<long>(i % 12))); });
  }
  auto forked = teff::fork([&] { return words[11]; });
  const long last = fib(16);
  return last + static_cast<long>(forked.get().size());
}

long loops() {
  std::vector<long> squares(20'000);
  const long count = static_cast<long>(squares.size());
  teff::parallel_for(0L, count, [&](long i) { squares[static_cast<std::size_t>(i)] = i * i; });
  teff::parallel_for(squares, [](long& each) { ++each; }, {.grain = 16});
  return squares[100];
}

long exceptions() {
  long caught = 0;
  for (int round = 0; round < 50; ++round) {
    try {
      teff::scope tasks;
      for (int i = 0; i < 20; ++i) {
        tasks.spawn([i] {
          fib(8);
          if (i % 7 == 3) throw std::runtime_error("task " + std::to_string(i));
        });
      }
      tasks.wait();
    } catch (const std::runtime_error& error) {
      caught += error.what()[0] == 't' ? 1 : 0;
    }
    try {
      teff::join([] { fib(10); }, []() -> long { throw std::runtime_error("join"); });
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  return caught;
}

constexpr int width = 8;
constexpr int steps = 30;
using key = std::array<int, 2>;

// A stencil whose cells are plain memory: placed on workers, and not.
bool graphs(teff::runtime& rt, bool placed) {
  std::vector<long> cells(std::size_t{steps} * width, 0);
  const auto at = [&](int step, int column) -> long& {
    return cells[static_cast<std::size_t>(step * width + column)];
  };
  teff::task_graph<key> graph{rt};
  graph.indegree([](key k) { return k[0] == 0 ? 0 : 3; }).body([&](key k) {
    const auto [step, column] = k;
    for (int side = -1; side <= 1; ++side)
      at(step, column) += step == 0 ? 1 : at(step - 1, (column + side + width) % width);
    for (int side = -1; side <= 1 && step + 1 < steps; ++side)
      graph.fulfill({step + 1, (column + side + width) % width});
  });
  if (placed) graph.place([workers = rt.workers()](key k) { return static_cast<unsigned>(k[1]) % workers; });
  for (int column = 0; column < width; ++column) graph.fulfill({0, column});
  graph.wait();
  return at(steps - 1, 0) == at(steps - 1, width - 1) && at(2, 0) == 27;
}

bool replays(teff::runtime& rt) {
  std::array<std::array<long, width>, 2> cells{};
  teff::task_graph<key> graph{rt};
  graph.indegree([](key k) { return k[0] == 0 ? 0 : 3; })
      .place([workers = rt.workers()](key k) { return static_cast<unsigned>(k[1]) % workers; })
      .body([&](key k) {
        const auto step = static_cast<std::size_t>(k[0]);
        long sum = 0;
        for (int side = -1; side <= 1; ++side)
          sum += cells[1 - step][static_cast<std::size_t>((k[1] + side + width) % width)];
        cells[step][static_cast<std::size_t>(k[1])] = sum % 1000 + 1;
        for (int side = -1; side <= 1; ++side) graph.fulfill({k[0] + 1, (k[1] + side + width) % width});
      });
  auto two = teff::record(
      graph,
      [&] {
        for (int column = 0; column < width; ++column) graph.fulfill({0, column});
      },
      [](key k) { return k[0] < 2 ? std::nullopt : std::optional<key>({0, k[1]}); });
  two.replay(100);
  return cells[0][0] == cells[0][width - 1];
}

}  // namespace

int main() {
  teff::runtime rt{{.workers = 4}};
  for (int round = 0; round < 10; ++round) {
    bool well = rt.run(fork_join) == 987 + 2 && rt.run(loops) == 10'001 && rt.run(exceptions) == 100;
    well = well && graphs(rt, true) && graphs(rt, false) && replays(rt);
    if (!well) {
      std::puts("wrong");
      return 1;
    }
  }
}
