#include "kernels/vectorized.ipp"

template struct teff::graphs::kernels::vectorized<teff::graphs::isa::avx2>;
