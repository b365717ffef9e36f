#include <teff/teff.hpp>

#include <cstdio>

int main() {
  teff::runtime workers;
  int left = 0;
  int right = 0;
  workers.run([&] { teff::join([&] { left = 20; }, [&] { right = 22; }); });
  std::printf("libteff %d: %d\n", teff::version_number, left + right);
  return left + right == 42 ? 0 : 1;
}
