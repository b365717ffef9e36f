// Worksharing tasks beside plain tasks: axpy, a triangular loop and a stencil, divided into 1 to 1000 tasks a
// step. The third column is OpenMP's static loop over the same part, if the compiler knows OpenMP. Times are
// of a step, in microseconds. Arguments: workers (2), elements (10^6), seconds a figure (0.3).
#include <teff/flow.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

using teff::range;

struct arrays {
  explicit arrays(std::size_t n) : x(n, 1.0), y(n, 2.0) {}
  std::vector<double> x;
  std::vector<double> y;
};

// Each body runs the iterations `r` of a step that reads x and writes y.
struct axpy {
  static constexpr const char* name = "axpy";
  arrays& a;
  void operator()(range r) const {
    for (auto i = r.first; i < r.last; ++i)
      a.y[static_cast<std::size_t>(i)] += 0.5 * a.x[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::size_t size() const { return a.x.size(); }
  [[nodiscard]] range reads(range r) const { return r; }
};
struct stencil {
  static constexpr const char* name = "stencil";
  arrays& a;
  void operator()(range r) const {
    const auto end = static_cast<std::ptrdiff_t>(a.x.size());
    for (auto i = std::max<std::ptrdiff_t>(r.first, 1); i < std::min(r.last, end - 1); ++i) {
      const auto at = static_cast<std::size_t>(i);
      a.y[at] = (a.x[at - 1] + 2 * a.x[at] + a.x[at + 1]) / 4;
    }
  }
  [[nodiscard]] std::size_t size() const { return a.x.size(); }
  [[nodiscard]] range reads(range r) const {
    return {std::max<std::ptrdiff_t>(r.first - 1, 0),
            std::min(r.last + 1, static_cast<std::ptrdiff_t>(a.x.size()))};
  }
};
// Row i has i elements: about as many in all as the other loops.
struct triangle {
  static constexpr const char* name = "triangle";
  arrays& a;
  void operator()(range r) const {
    for (auto i = r.first; i < r.last; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j <= static_cast<std::size_t>(i); ++j) sum += a.x[j];
      a.y[static_cast<std::size_t>(i)] = sum;
    }
  }
  [[nodiscard]] std::size_t size() const {
    std::size_t rows = 1;
    while (rows * rows < 2 * a.x.size()) ++rows;
    return std::min(rows, a.x.size());
  }
  // Of one length for all, so that the accesses are one range.
  [[nodiscard]] range reads(range /*r*/) const { return {0, static_cast<std::ptrdiff_t>(a.x.size())}; }
};

// Microseconds of a step, the best of five series.
template <class Steps>
double time_of(double seconds, Steps run) {
  using clock = std::chrono::steady_clock;
  const auto took = [&](int steps) {
    const auto began = clock::now();
    run(steps);
    return std::chrono::duration<double, std::micro>(clock::now() - began).count();
  };
  took(2);
  const int steps = std::max(static_cast<int>(seconds * 2e5 / std::max(took(2) / 2, 0.1)), 2);
  double best = 1e30;
  for (int series = 0; series < 5; ++series) best = std::min(best, took(steps) / steps);
  return best;
}

template <class Body>
void measure(teff::runtime& rt, const Body& body, double seconds) {
  const std::size_t n = body.size();
  const auto parts = [n](std::size_t tasks) {
    std::vector<range> all;
    for (std::size_t i = 0; i < tasks; ++i)
      all.push_back(
          {static_cast<std::ptrdiff_t>(n * i / tasks), static_cast<std::ptrdiff_t>(n * (i + 1) / tasks)});
    return all;
  };
  for (const std::size_t tasks : {1UL, 2UL, 4UL, 10UL, 32UL, 100UL, 316UL, 1000UL}) {
    if (tasks > n) break;
    const auto some = parts(tasks);
    const auto by_flow = [&](auto make) {
      return time_of(seconds, [&](int steps) {
        rt.run([&] {
          teff::flow f{rt};
          for (int step = 0; step < steps; ++step)
            for (const range& each : some) make(f, each);
          f.wait();
        });
      });
    };
    const double loops = by_flow([&](teff::flow& f, range r) {
      f.task_for(r.first, r.last, teff::in(teff::section(body.a.x, body.reads(r))),
                 teff::inout(teff::section(body.a.y, r)), [body](range c) { body(c); });
    });
    const double plain = by_flow([&](teff::flow& f, range r) {
      f.task(teff::in(teff::section(body.a.x, body.reads(r))), teff::inout(teff::section(body.a.y, r)),
             [body, r] { body(r); });
    });
    std::printf("  %-9s %5zu tasks: task_for %9.2f  task %9.2f", Body::name, tasks, loops, plain);
#ifdef _OPENMP
    const double openmp = time_of(seconds, [&](int steps) {
      for (int step = 0; step < steps; ++step)
        for (const range& each : some) {
#pragma omp parallel num_threads(rt.workers())
          {
            const std::ptrdiff_t size = each.last - each.first;
            const std::ptrdiff_t thread = omp_get_thread_num();
            const std::ptrdiff_t threads = omp_get_num_threads();
            body({each.first + size * thread / threads, each.first + size * (thread + 1) / threads});
          }
        }
    });
    std::printf("  OpenMP static %9.2f", openmp);
#endif
    std::printf("  us\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto workers = static_cast<unsigned>(argc > 1 ? std::stoul(argv[1]) : 2);
  const std::size_t elements = argc > 2 ? std::stoul(argv[2]) : 1000000;
  const double seconds = argc > 3 ? std::stod(argv[3]) : 0.3;
  teff::runtime rt{{.workers = workers}};
  arrays all(elements);
  std::printf("%u workers, %zu elements\n", workers, elements);
  measure(rt, axpy{all}, seconds);
  measure(rt, triangle{all}, seconds);
  measure(rt, stencil{all}, seconds);
}
