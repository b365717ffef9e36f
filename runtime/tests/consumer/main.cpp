// Each way in once, so that all of the library's templates are compiled as the user's compiler and flags have
// it.
#include <teff/teff.hpp>

#include <array>
#include <atomic>
#include <optional>

int main() {
  teff::runtime rt{{.workers = 2}};
  std::atomic<int> done{0};
  rt.run([&] {
    const auto [a, b] = teff::join([] { return 40; }, [] { return 2; });
    done += a + b == 42;
    const std::array<int, 64> wide{};  // more than a slot of the deque holds
    const auto [c, d] = teff::join([] { return 1; }, [wide] { return wide.front(); });
    done += c - d;
    teff::scope tasks;
    for (int i = 0; i < 10; ++i) tasks.spawn([&] { ++done; });
    tasks.wait();
    teff::parallel_for(0, 10, [&](int) { ++done; });
  });

  auto forked = teff::fork([] { return 1; });  // outside the workers
  done += forked.get();

  teff::task_graph<int> chain{rt};
  chain.indegree([](int i) { return i == 0 ? 0 : 1; }).place([](int) { return 0U; }).body([&](int i) {
    ++done;
    chain.fulfill(i + 1);
  });
  auto two = teff::record(
      chain, [&] { chain.start(0); }, [](int i) { return i < 2 ? std::nullopt : std::optional(0); });
  two.replay(4);
  return done == 23 + 2 * 5 ? 0 : 1;
}
