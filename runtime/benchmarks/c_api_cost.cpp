// The cost of a task from C: fib by scopes of teff.h, beside fib by join and by scopes of C++.
//
//   teff_c_api_cost [N]     fib(N) on one worker, N = 30 by default
#include <teff/teff.h>
#include <teff/join.hpp>
#include <teff/runtime.hpp>
#include <teff/scope.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace {

struct fib_call {
  long n;
  long value;
};

// The same as in examples/c_api.c.
int by_c(void* context) {
  auto& call = *static_cast<fib_call*>(context);
  if (call.n < 2) {
    call.value = call.n;
    return teff_ok;
  }
  fib_call one{call.n - 1, 0};
  fib_call two{call.n - 2, 0};
  teff_scope tasks;
  teff_scope_begin(&tasks);
  teff_scope_spawn(&tasks, by_c, &one);
  const int here = by_c(&two);
  const int there = teff_scope_end(&tasks);
  call.value = one.value + two.value;
  return here != teff_ok ? here : there;
}

long by_scope(long n) {
  if (n < 2) return n;
  long one = 0;
  teff::scope tasks;
  tasks.spawn([&one, n] { one = by_scope(n - 1); });
  const long two = by_scope(n - 2);
  tasks.wait();
  return one + two;
}

long by_join(long n) {
  if (n < 2) return n;
  auto [a, b] = teff::join([=] { return by_join(n - 1); }, [=] { return by_join(n - 2); });
  return a + b;
}

// The median time of a round, in nanoseconds.
template <class F>
double median(F&& once) {
  std::array<double, 15> all{};
  for (double& each : all) {
    const auto began = std::chrono::steady_clock::now();
    once();
    each = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began).count();
  }
  std::ranges::nth_element(all, all.begin() + all.size() / 2);
  return all[all.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const long n = argc > 1 ? std::atol(argv[1]) : 30;
  teff::runtime rt{{.workers = 1}};
  long tasks = 1;  // of fib(n): fib(n + 1) - 1
  for (long i = 0, before = 0; i < n; ++i) before = std::exchange(tasks, tasks + before);
  --tasks;
  rt.run([=] {
    const auto print = [=](const char* way, double nanoseconds) {
      std::printf("%-24s %6.2f ns a task\n", way, nanoseconds / static_cast<double>(tasks));
    };
    print("join", median([=] { by_join(n); }));
    print("scope", median([=] { by_scope(n); }));
    print("teff_scope, from C", median([=] {
            fib_call call{n, 0};
            by_c(&call);
          }));
  });
}
