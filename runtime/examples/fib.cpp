// Fibonacci numbers by plain recursion, a task a call: this shows the cost of a task.
#include <teff/teff.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

long fib(long n) {
  if (n < 2) return n;
  auto [a, b] = teff::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  const long n = argc > 1 ? std::atol(argv[1]) : 30;
  teff::runtime rt;
  std::printf("fib(%ld) = %ld\n", n, rt.run([n] { return fib(n); }));
}
