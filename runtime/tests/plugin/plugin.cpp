// A plugin that libteff is linked into, as a Python extension would have it.
#include <teff/teff.hpp>

#include <functional>

namespace {

long sum_below(int n) {
  return teff::parallel_reduce(0, n, 0L, std::plus<>{}, [](int i) { return long{i}; });
}

}  // namespace

// By the default runtime, and by a runtime that lives as long as the call.
extern "C" long sum_by_default_runtime(int n) {
  return sum_below(n);
}
extern "C" long sum_by_own_runtime(int n) {
  teff::runtime rt{{.workers = 2}};
  return rt.submit([n] { return sum_below(n); }).get();
}
