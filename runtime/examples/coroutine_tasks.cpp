// Tasks that wait in their middle: each is a coroutine, and its worker runs other tasks while it waits.
#include <teff/teff.hpp>

#include <array>
#include <chrono>
#include <cstdio>

using clock_type = std::chrono::steady_clock;

// Completes when the device has had its time. A device of this example is a clock.
static void ask_device() {
  teff::attach([at = clock_type::now() + std::chrono::milliseconds(1)] { return clock_type::now() >= at; });
}

int main() {
  constexpr int devices = 100;
  constexpr int questions = 5;
  std::array<int, devices> answers{};
  int sum = 0;

  teff::runtime rt{{.workers = 1}};
  teff::flow f{rt};
  for (int& mine : answers) {
    f.task(teff::inout(mine), [&mine]() -> teff::task_coroutine {
      for (int i = 0; i < questions; ++i) {
        ask_device();
        co_await teff::completed();
        ++mine;
      }
    });
  }
  f.task(teff::in(answers), teff::out(sum), [&] {
    for (const int each : answers) sum += each;
  });
  f.wait();

  std::printf("%d answers\n", sum);
  return sum == devices * questions ? 0 : 1;
}
