// The kernels where there is no OpenBLAS. Nothing on tiles is loaded, so no other kernel is called.
#include <stdexcept>

#include "teff/apps/kernels.hpp"

namespace teff::apps::kernels {
namespace {

[[noreturn]] void refuse() {
  throw std::logic_error(missing());
}

}  // namespace

std::string missing() {
  return "OpenBLAS is not installed (libopenblas-dev)";
}
int use_threads(int /*count*/) {
  return 1;
}

void multiply(const tile& /*a*/, const tile& /*b*/, const tile& /*c*/, bool /*adds*/) {
  refuse();
}
void add(const tile& /*a*/, const tile& /*c*/) {
  refuse();
}
void subtract_product(const tile& /*a*/, const tile& /*b*/, const tile& /*c*/) {
  refuse();
}
void subtract_square(const tile& /*a*/, const tile& /*c*/) {
  refuse();
}
void solve(const tile& /*l*/, const tile& /*a*/) {
  refuse();
}
void factorise(const tile& /*a*/) {
  refuse();
}
double measure_core() {
  refuse();
}

}  // namespace teff::apps::kernels
