// A library whose functions use libteff.
#include <teff/teff.hpp>

#include <functional>

long sum_below(int n);
long sum_below(int n) {
  return teff::parallel_reduce(0, n, 0L, std::plus<>{}, [](int i) { return long{i}; });
}
