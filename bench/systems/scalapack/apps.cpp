// The mini-apps as one call each of ScaLAPACK, on a grid of ranks. Its blocks are the apps' tiles.
#include <mpi.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "teff/apps/drive_ranks.hpp"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridexit(int context);
void pdgemm_(const char* of_a, const char* of_b, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desc_a,
             const double* b, const int* ib, const int* jb, const int* desc_b, const double* beta, double* c,
             const int* ic, const int* jc, const int* desc_c);
void pdpotrf_(const char* part, const int* n, double* a, const int* ia, const int* ja, const int* desc_a,
              int* info);
}

namespace {

using namespace teff::apps;

constexpr int first = 1;  // rows and columns count from there

/// The ranks as the library wants them, numbered row by row.
class blacs_grid {
 public:
  explicit blacs_grid(const process_grid& ranks) {
    Cblacs_get(-1, 0, &context_);
    Cblacs_gridinit(&context_, "Row", ranks.down, ranks.across);
  }
  ~blacs_grid() { Cblacs_gridexit(context_); }
  blacs_grid(const blacs_grid&) = delete;
  blacs_grid& operator=(const blacs_grid&) = delete;

  /// A matrix's descriptor, in the library's term.
  [[nodiscard]] std::array<int, 9> describe(const tiled_matrix& matrix) const {
    constexpr int dense = 1;
    const int size = matrix.blocks().size();
    const int block = matrix.blocks().block();
    const int stride = matrix.local_rows() > 0 ? matrix.local_rows() : 1;
    return {dense, context_, size, size, block, block, 0, 0, stride};
  }

 private:
  int context_ = 0;
};

class scalapack_system final : public whole_system {
 public:
  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "scalapack", .variant = "calls", .version = "ScaLAPACK"};
  }
  [[nodiscard]] layout storage() const override { return layout::columns; }

  [[nodiscard]] std::string lacks(const setting& at) const override {
    if (at.sizes != block_sizes::equal) return "ScaLAPACK has blocks of one size only";
    if (at.layers > 1) return "ScaLAPACK has grids of one layer only";
    return {};
  }

  counts run(gemm& product, teff::bench::region_meter& region) override {
    const double one = 1;
    const double zero = 0;
    const int size = product.at().size;
    const blacs_grid grid(product.at().grid);
    const auto a = grid.describe(product.a());
    const auto b = grid.describe(product.b());
    const auto c = grid.describe(product.c());
    return timed(region, [&] {
      pdgemm_("N", "N", &size, &size, &size, &one, product.a().data(), &first, &first, a.data(),
              product.b().data(), &first, &first, b.data(), &zero, product.c().data(), &first, &first,
              c.data());
    });
  }

  counts run(cholesky& factors, teff::bench::region_meter& region) override {
    const int size = factors.at().size;
    const blacs_grid grid(factors.at().grid);
    const auto a = grid.describe(factors.a());
    int info = 0;
    const counts none =
        timed(region, [&] { pdpotrf_("L", &size, factors.a().data(), &first, &first, a.data(), &info); });
    if (info != 0) throw std::runtime_error("the matrix is not positive definite");
    return none;
  }

 private:
  /// Until the last rank has its part of the result.
  template <class Call>
  static counts timed(teff::bench::region_meter& region, Call call) {
    MPI_Barrier(MPI_COMM_WORLD);
    region.start();
    call();
    MPI_Barrier(MPI_COMM_WORLD);
    region.stop();
    return {};
  }
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_SINGLE, [](int) { return std::make_unique<scalapack_system>(); });
}
