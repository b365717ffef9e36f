// A race of the program's own, which ThreadSanitizer must still find.
#include <teff/teff.hpp>

#include <atomic>
#include <thread>

int main() {
  teff::runtime rt{{.workers = 2}};
  int shared = 0;
  std::atomic<int> arrived{0};
  const auto write = [&] {
    ++arrived;
    while (arrived.load(std::memory_order_relaxed) < 2) std::this_thread::yield();
    ++shared;
  };
  rt.run([&] { teff::join(write, write); });
  return shared == 0;
}
