#include <teff/teff.hpp>

int main() {
  teff::runtime rt{{.workers = 2}};
  const auto [a, b] = rt.run([] { return teff::join([] { return 40; }, [] { return 2; }); });
  return a + b == 42 ? 0 : 1;
}
