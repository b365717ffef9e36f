#include "references.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace teff::graphs {

void stream_copy_compiled(double* __restrict to, const double* __restrict from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
}

void stream_copy_streaming(double* to, const double* from, std::size_t count) {
#if defined(__x86_64__)
  for (std::size_t i = 0; i < count; i += 2) _mm_stream_pd(to + i, _mm_loadu_pd(from + i));
  _mm_sfence();
#else
  stream_copy_compiled(to, from, count);
#endif
}

}  // namespace teff::graphs
