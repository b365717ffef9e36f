// Conjugate gradients in three ways: parallel loops, tasks that name their memory, and worksharing tasks.
#include <teff/flow.hpp>
#include <teff/loops.hpp>
#include <teff/runtime.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <vector>

constexpr std::size_t side = 24;  // of a cube of points
constexpr int iterations = 50;
using plane = std::array<double, side * side>;
using planes = std::vector<plane>;

// A x = b. A row of A is a point of the cube: 27 on the diagonal, and -1 for each neighbour. x is 1
// everywhere.
struct solver {
  planes x = planes(side, plane{});
  planes r = x;                        // b - A x
  planes p = x;                        // the direction
  planes ap = x;                       // A p
  std::array<double, side> partial{};  // the sums of the planes
  struct {
    double rr = 0;     // r . r
    double alpha = 0;  // the length of a step along p
    double beta = 0;   // the share of the last direction in the next one
  } scalars;
};

// ap = A p in the plane z. It reads p in the planes beside it, too.
void multiply(solver& s, std::size_t z) {
  const auto from = [](std::size_t i) { return i == 0 ? i : i - 1; };
  const auto to = [](std::size_t i) { return std::min(i + 2, side); };
  double sum = 0;
  for (std::size_t y = 0; y < side; ++y)
    for (std::size_t x = 0; x < side; ++x) {
      double around = 0;
      for (std::size_t k = from(z); k < to(z); ++k)
        for (std::size_t j = from(y); j < to(y); ++j)
          for (std::size_t i = from(x); i < to(x); ++i) around += s.p[k][j * side + i];
      const std::size_t here = y * side + x;
      s.ap[z][here] = 28 * s.p[z][here] - around;  // the point itself is among the points around it
      sum += s.p[z][here] * s.ap[z][here];
    }
  s.partial[z] = sum;
}

void step(solver& s, std::size_t z) {
  for (std::size_t i = 0; i < side * side; ++i) {
    s.x[z][i] += s.scalars.alpha * s.p[z][i];
    s.r[z][i] -= s.scalars.alpha * s.ap[z][i];
  }
  s.partial[z] = std::inner_product(s.r[z].begin(), s.r[z].end(), s.r[z].begin(), 0.0);
}

void turn(solver& s, std::size_t z) {
  for (std::size_t i = 0; i < side * side; ++i) s.p[z][i] = s.r[z][i] + s.scalars.beta * s.p[z][i];
}

void find_alpha(solver& s) {
  s.scalars.alpha = s.scalars.rr / std::accumulate(s.partial.begin(), s.partial.end(), 0.0);
}

void find_beta(solver& s) {
  const double rr = std::accumulate(s.partial.begin(), s.partial.end(), 0.0);
  s.scalars.beta = rr / s.scalars.rr;
  s.scalars.rr = rr;
}

// x = 0, so r = p = b.
solver start() {
  solver s;
  for (plane& each : s.p) each.fill(1);
  for (std::size_t z = 0; z < side; ++z) multiply(s, z);
  s.r = s.p = s.ap;
  for (const plane& each : s.r)
    s.scalars.rr = std::inner_product(each.begin(), each.end(), each.begin(), s.scalars.rr);
  return s;
}

void solve_in_loops(solver& s) {
  for (int k = 0; k < iterations; ++k) {
    teff::parallel_for(std::size_t{0}, side, [&](std::size_t z) { multiply(s, z); });
    find_alpha(s);
    teff::parallel_for(std::size_t{0}, side, [&](std::size_t z) { step(s, z); });
    find_beta(s);
    teff::parallel_for(std::size_t{0}, side, [&](std::size_t z) { turn(s, z); });
  }
}

// The planes of a range, and a plane on each side.
auto with_neighbours(planes& of, std::size_t first, std::size_t last) {
  const std::size_t before = first == 0 ? first : first - 1;
  return teff::section(of, before, std::min(last + 1, side) - before);
}

void solve_in_tasks(solver& s, teff::flow& f) {
  for (int k = 0; k < iterations; ++k) {
    for (std::size_t z = 0; z < side; ++z)
      f.task(teff::in(with_neighbours(s.p, z, z + 1)), teff::out(s.ap[z]), teff::out(s.partial[z]),
             [&s, z] { multiply(s, z); });
    f.task(teff::in(s.partial), teff::inout(s.scalars), [&s] { find_alpha(s); });
    for (std::size_t z = 0; z < side; ++z)
      f.task(teff::in(s.p[z]), teff::in(s.ap[z]), teff::in(s.scalars), teff::inout(s.x[z]),
             teff::inout(s.r[z]), teff::out(s.partial[z]), [&s, z] { step(s, z); });
    f.task(teff::in(s.partial), teff::inout(s.scalars), [&s] { find_beta(s); });
    for (std::size_t z = 0; z < side; ++z)
      f.task(teff::in(s.r[z]), teff::in(s.scalars), teff::inout(s.p[z]), [&s, z] { turn(s, z); });
  }
  f.wait();
}

void solve_in_worksharing_tasks(solver& s, teff::flow& f) {
  // The access of a task to the planes of its range.
  const auto in = [](const auto& of) {
    return [&](teff::range some) { return teff::in(teff::section(of, some)); };
  };
  const auto out = [](auto& of) {
    return [&](teff::range some) { return teff::out(teff::section(of, some)); };
  };
  const auto inout = [](auto& of) {
    return [&](teff::range some) { return teff::inout(teff::section(of, some)); };
  };
  const auto p_and_neighbours = [&](teff::range some) {
    return teff::in(
        with_neighbours(s.p, static_cast<std::size_t>(some.first), static_cast<std::size_t>(some.last)));
  };
  constexpr teff::task_loop_options how{.tasks = 2};
  for (int k = 0; k < iterations; ++k) {
    f.task_loop(0, side, how, p_and_neighbours, out(s.ap), out(s.partial),
                [&s](std::size_t z) { multiply(s, z); });
    f.task(teff::in(s.partial), teff::inout(s.scalars), [&s] { find_alpha(s); });
    f.task_loop(0, side, how, in(s.p), in(s.ap), teff::in(s.scalars), inout(s.x), inout(s.r), out(s.partial),
                [&s](std::size_t z) { step(s, z); });
    f.task(teff::in(s.partial), teff::inout(s.scalars), [&s] { find_beta(s); });
    f.task_loop(0, side, how, in(s.r), teff::in(s.scalars), inout(s.p), [&s](std::size_t z) { turn(s, z); });
  }
  f.wait();
}

// The greatest distance of x from 1.
double error(const solver& s) {
  double greatest = 0;
  for (const plane& each : s.x)
    for (const double x : each) greatest = std::max(greatest, std::abs(x - 1));
  return greatest;
}

int main() {
  teff::runtime rt;
  teff::flow f{rt};
  solver loops = start();
  rt.run([&] { solve_in_loops(loops); });
  solver tasks = start();
  solve_in_tasks(tasks, f);
  solver worksharing = start();
  solve_in_worksharing_tasks(worksharing, f);

  const bool same = tasks.x == loops.x && worksharing.x == loops.x;
  std::printf("distance from the solution: %.2g, %s in all three ways\n", error(loops),
              same ? "the same" : "not the same");
  return same && error(loops) < 1e-8 ? 0 : 1;
}
