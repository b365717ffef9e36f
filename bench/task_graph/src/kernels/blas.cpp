#include "kernels/blas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace teff::graphs::kernels {
namespace {

// The interface of CBLAS with 32-bit integers, the layout and the transposition being C enumerations.
using dgemm_function = void (*)(int layout, int transpose_a, int transpose_b, int m, int n, int k,
                                double alpha, const double* a, int lda, const double* b, int ldb, double beta,
                                double* c, int ldc);
using set_threads_function = void (*)(int);

constexpr int row_major = 101;
constexpr int no_transpose = 111;

struct blas {
  dgemm_function dgemm = nullptr;
  std::string error;
};

blas open_blas() {
  setenv("OPENBLAS_NUM_THREADS", "1", 1);  // else it starts its threads before it can be told
  void* library = nullptr;
  for (const char* file : {"libopenblas.so.0", "libopenblas.so"})
    if (!library) library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {nullptr, fmt::format("OpenBLAS can't be loaded ({}): apt-get install libopenblas0", dlerror())};
  const auto dgemm = reinterpret_cast<dgemm_function>(dlsym(library, "cblas_dgemm"));
  if (!dgemm) return {nullptr, "the OpenBLAS here has no cblas_dgemm: apt-get install libopenblas0"};
  if (const auto set_threads =
          reinterpret_cast<set_threads_function>(dlsym(library, "openblas_set_num_threads")))
    set_threads(1);
  return {dgemm, {}};
}

const blas& the_blas() {
  static const blas opened = open_blas();
  return opened;
}

}  // namespace

std::int64_t matrix_order(std::int64_t scratch_bytes) {
  const std::int64_t elements = scratch_bytes / (3 * static_cast<std::int64_t>(sizeof(double)));
  auto order = static_cast<std::int64_t>(std::sqrt(static_cast<double>(elements)));
  while (order * order > elements) --order;  // where the square root was rounded up
  return order;
}

const std::string& load_blas() {
  return the_blas().error;
}

void multiply_matrices(std::span<std::byte> scratch) {
  const std::int64_t order = matrix_order(static_cast<std::int64_t>(scratch.size()));
  auto* a = reinterpret_cast<double*>(scratch.data());
  double* b = a + order * order;
  double* c = b + order * order;
  const auto n = static_cast<int>(order);
  const dgemm_function dgemm = the_blas().dgemm;
  if (!dgemm) throw std::runtime_error(the_blas().error);
  dgemm(row_major, no_transpose, no_transpose, n, n, n, 1.0, a, n, b, n, 0.0, c, n);
}

}  // namespace teff::graphs::kernels
