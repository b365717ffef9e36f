#include "kernels/vectorized.ipp"

template struct teff::bench::kernels::vectorized<teff::bench::isa::avx512>;
