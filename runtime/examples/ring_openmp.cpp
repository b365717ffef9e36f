// Heat in a ring of blocks, by tasks of OpenMP. ring_flow.cpp is this program on libteff, line by line.
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

int main() {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop
    for (int b = 0; b < blocks; ++b) x[b].fill(b < blocks / 2 ? 1 : 0);

    for (int step = 0; step < steps; ++step) {
      block* const from = step % 2 == 0 ? x : y;
      block* const to = step % 2 == 0 ? y : x;
      for (int b = 0; b < blocks; ++b) {
        const int left = (b + blocks - 1) % blocks;
        const int right = (b + 1) % blocks;
#pragma omp task depend(in : from[left], from[b], from[right]) depend(out : to[b]) priority(steps - step)
        relax(from[left], from[b], from[right], to[b]);
      }
    }

    for (int b = 0; b < blocks; ++b) {
#pragma omp task depend(in : x[b]) depend(mutexinoutset : histogram)
      count(x[b]);
    }

#pragma omp taskgroup task_reduction(+ : heat)
    for (int b = 0; b < blocks; ++b) {
#pragma omp task depend(in : x[b]) in_reduction(+ : heat)
      for (const double each : x[b]) heat += each;
    }

#pragma omp taskwait depend(in : histogram)
    std::printf("%d warm points", histogram[2] + histogram[3]);
#pragma omp taskwait
    std::printf(", heat %.3f\n", heat);
  }
}
