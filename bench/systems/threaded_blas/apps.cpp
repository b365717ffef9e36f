// The mini-apps as one call each of a multithreaded BLAS and LAPACK. There are no tiles.
#include "teff/apps/drive.hpp"
#include "teff/apps/kernels.hpp"

namespace {

using namespace teff::apps;

class library_system final : public whole_system {
 public:
  explicit library_system(int workers) : threads_(kernels::use_threads(workers)) { kernels::use_threads(1); }

  [[nodiscard]] teff::bench::identity describe() const override {
    return {
        .system = "threaded_blas", .variant = "calls", .version = kernels::version(), .workers = threads_};
  }
  [[nodiscard]] layout storage() const override { return layout::columns; }

  counts run(gemm& product, teff::bench::region_meter& region) override {
    return on_all_threads(region, [&] {
      kernels::multiply(whole(product.a()), whole(product.b()), whole(product.c()), false);
    });
  }
  counts run(cholesky& factors, teff::bench::region_meter& region) override {
    return on_all_threads(region, [&] { kernels::factorise(whole(factors.a())); });
  }

 private:
  static tile whole(const tiled_matrix& matrix) {
    return {matrix.data(), matrix.local_rows(), matrix.local_columns(), matrix.local_rows()};
  }

  template <class Call>
  [[nodiscard]] counts on_all_threads(teff::bench::region_meter& region, Call call) const {
    kernels::use_threads(threads_);
    region.start();
    call();
    region.stop();
    kernels::use_threads(1);
    return {};
  }

  int threads_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive<library_system>(argc, argv);
}
