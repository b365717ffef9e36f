// fork() in a program with a runtime: the child makes its own.
#include <teff/teff.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace {

long fib(long n) {
  if (n < 2) return n;
  auto [a, b] = teff::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

// In the child process: its exit status.
int work() {
  teff::runtime own{{.workers = 2}};
  return own.run([] { return fib(20); }) == 6765 ? 0 : 1;
}

}  // namespace

int main() {
  teff::runtime rt;
  std::printf("fib(25) = %ld\n", rt.run([] { return fib(25); }));
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  const long here = rt.run([] { return fib(26); });  // meanwhile
  int status = 0;
  ::waitpid(child, &status, 0);
  std::printf("fib(26) = %ld, the child ended with status %d\n", here, WEXITSTATUS(status));
  return status;
}
