// Heat in a ring of blocks, by data flow. ring_openmp.cpp is the program of OpenMP that it comes from.
#include <teff/flow.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

constexpr int blocks = 16;
constexpr int size = 1000;  // of a block
constexpr int steps = 200;
using block = std::array<double, size>;

static block x[blocks];
static block y[blocks];
static std::array<int, 4> histogram;
static double heat;

static void relax(const block& left, const block& mine, const block& right, block& result) {
  for (int i = 0; i < size; ++i) {
    const double before = i == 0 ? left[size - 1] : mine[i - 1];
    const double after = i == size - 1 ? right[0] : mine[i + 1];
    result[i] = (before + 2 * mine[i] + after) / 4;
  }
}

static void count(const block& values) {
  for (const double each : values) ++histogram[std::min(static_cast<int>(each * 4), 3)];
}

static void ring(teff::runtime& rt) {
  teff::flow f{rt};

  f.task_for(0, blocks, teff::out(x), [](int b) { x[b].fill(b < blocks / 2 ? 1 : 0); });

  for (int step = 0; step < steps; ++step) {
    block* const from = step % 2 == 0 ? x : y;
    block* const to = step % 2 == 0 ? y : x;
    for (int b = 0; b < blocks; ++b) {
      const int left = (b + blocks - 1) % blocks;
      const int right = (b + 1) % blocks;
      f.task({.priority = steps - step}, teff::in(from[left]), teff::in(from[b]), teff::in(from[right]),
             teff::out(to[b]), [=] { relax(from[left], from[b], from[right], to[b]); });
    }
  }

  for (int b = 0; b < blocks; ++b) {
    f.task(teff::in(x[b]), teff::commutative(histogram), [b] { count(x[b]); });
  }

  for (int b = 0; b < blocks; ++b) {
    f.task(teff::in(x[b]), teff::reduction(heat), [b](double& mine) {
      for (const double each : x[b]) mine += each;
    });
  }

  f.wait(teff::in(histogram));
  std::printf("%d warm points", histogram[2] + histogram[3]);
  f.wait();
  std::printf(", heat %.3f\n", heat);
}

int main() {
  teff::runtime rt;
  rt.run([&] { ring(rt); });  // a worker makes small tasks at a lower cost than the main thread
}
