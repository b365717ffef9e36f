// The cost to make, run and retire a task of a flow, in nanoseconds. Arguments: workers (2), tasks (10^6).
#include <teff/flow.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

struct alignas(128) object {
  long value = 0;
};

template <class Make>
void measure(teff::runtime& rt, const char* what, long tasks, Make make) {
  double best = 1e30;
  for (int repeat = 0; repeat < 5; ++repeat) {
    rt.run([&] {
      teff::flow f{rt};
      const auto began = std::chrono::steady_clock::now();
      for (long i = 0; i < tasks; ++i) make(f, static_cast<std::size_t>(i));
      f.wait();
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
      best = std::min(best, took.count() / static_cast<double>(tasks));
    });
  }
  std::printf("  %-36s %10ld tasks %8.1f ns a task\n", what, tasks, best);
}

void measure_all(unsigned workers, long tasks) {
  teff::runtime rt{{.workers = workers}};
  std::printf("%u worker%s\n", workers, workers == 1 ? "" : "s");
  std::array<object, 64> x;
  for (const long some : {std::max(tasks / 100, 1L), tasks}) {
    measure(rt, "no access", some, [](teff::flow& f, std::size_t) { f.task([] {}); });
    measure(rt, "1 inout, 64 objects in turn", some,
            [&](teff::flow& f, std::size_t i) { f.task(teff::inout(x[i % 64].value), [] {}); });
    measure(rt, "1 inout, one object (a chain)", some,
            [&](teff::flow& f, std::size_t) { f.task(teff::inout(x[0].value), [] {}); });
    measure(rt, "1 in, one object read by all", some,
            [&](teff::flow& f, std::size_t) { f.task(teff::in(x[0].value), [] {}); });
    measure(rt, "2 in, 1 inout, 64 objects", some, [&](teff::flow& f, std::size_t i) {
      f.task(teff::in(x[(i + 1) % 64].value), teff::in(x[(i + 63) % 64].value), teff::inout(x[i % 64].value),
             [] {});
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto workers = static_cast<unsigned>(argc > 1 ? std::stoul(argv[1]) : 2);
  const long tasks = argc > 2 ? std::stol(argv[2]) : 1000000;
  for (unsigned each = 1; each <= workers; each *= 2) measure_all(each, tasks);
}
