#include "teff/apps/kernels.hpp"

#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" void dpotrf_(const char* part, const int* size, double* a, const int* stride, int* info);

namespace teff::apps::kernels {

void multiply(const tile& a, const tile& b, const tile& c, bool adds) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, c.rows, c.columns, a.columns, 1.0, a.data, a.stride,
              b.data, b.stride, adds ? 1.0 : 0.0, c.data, c.stride);
}

void add(const tile& a, const tile& c) {
  for (int i = 0; i < c.columns; ++i) cblas_daxpy(c.rows, 1.0, a.column(i), 1, c.column(i), 1);
}

void subtract_product(const tile& a, const tile& b, const tile& c) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, c.rows, c.columns, a.columns, -1.0, a.data, a.stride,
              b.data, b.stride, 1.0, c.data, c.stride);
}

void subtract_square(const tile& a, const tile& c) {
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, c.rows, a.columns, -1.0, a.data, a.stride, 1.0, c.data,
              c.stride);
}

void solve(const tile& l, const tile& a) {
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, a.rows, a.columns, 1.0, l.data,
              l.stride, a.data, a.stride);
}

void factorise(const tile& a) {
  const char lower = 'L';
  int info = 0;
  dpotrf_(&lower, &a.rows, a.data, &a.stride, &info);
  if (info != 0) throw std::runtime_error("the matrix is not positive definite");
}

std::string missing() {
  return {};
}

int use_threads(int count) {
  openblas_set_num_threads(count);
  return openblas_get_num_threads();
}

std::string version() {
  const std::string all = openblas_get_config();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
  return all.substr(0, all.find(' ', all.find(' ') + 1));
}

double measure_core() {
  using clock = std::chrono::steady_clock;
  constexpr int size = 768;  // 20 ms; beyond some hundred the rate stays the same
  constexpr int times = 3;
  constexpr double flops = 2.0 * size * size * size;
  static std::vector<double> memory(static_cast<std::size_t>(3 * size * size), 1.0);
  const auto part = [](int which) {
    return tile{memory.data() + static_cast<std::ptrdiff_t>(which) * size * size, size, size, size};
  };
  double best = 0;
  for (int i = 0; i < times; ++i) {
    const auto began = clock::now();
    multiply(part(0), part(1), part(2), false);
    best = std::max(best, flops / std::chrono::duration<double>(clock::now() - began).count());
  }
  return best;
}

}  // namespace teff::apps::kernels
