// Exceptions that unwind a worker's stack and come back to main's.
#include <teff/loops.hpp>
#include <teff/teff.hpp>

#include <stdexcept>

int main() {
  int caught = 0;
  for (int round = 0; round < 50; ++round) {
    try {
      teff::parallel_for(0, 100'000, [](int i) {
        if (i == 77'777) throw std::runtime_error("an iteration's");
      });
    } catch (const std::runtime_error&) {
      ++caught;
    }
    try {
      teff::join([] { throw std::runtime_error("a task's"); }, [] {});
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  return caught == 100 ? 0 : 1;
}
