// Two runtimes in one process, called by two other threads; then the counters of their workers.
#include <teff/teff.hpp>

#include <cstddef>
#include <cstdio>
#include <functional>
#include <thread>

namespace {

double sum_of_inverses(std::size_t n) {
  return teff::parallel_reduce(std::size_t{1}, n + 1, 0.0, std::plus<>{},
                               [](std::size_t i) { return 1.0 / static_cast<double>(i); });
}

void print(const char* name, const teff::runtime& rt) {
  const teff::counters did = rt.counters();
  std::printf("%s: %u workers, %lu calls of run(), %lu steals, %.3f ms parked\n", name, rt.workers(),
              static_cast<unsigned long>(did.jobs), static_cast<unsigned long>(did.steals),
              1e-6 * static_cast<double>(did.parked.count()));
}

}  // namespace

int main() {
  teff::runtime wide{{.workers = 4, .bind = false}};  // shares its cores with the other
  teff::runtime narrow{{.workers = 1, .spin = std::chrono::microseconds(0)}};

  double by_four = 0;
  double by_one = 0;
  std::jthread asks([&] { by_four = wide.run([] { return sum_of_inverses(1'000'000); }); });
  by_one = narrow.run([] { return sum_of_inverses(1'000'000); });
  asks.join();

  print("wide", wide);
  print("narrow", narrow);
  std::printf("%.15f\n", by_one);
  return by_one == by_four ? 0 : 1;  // to the last bit, on any number of workers
}
