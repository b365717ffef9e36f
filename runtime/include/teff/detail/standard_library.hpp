// For which standard library a file is compiled: its containers pass between the program and libteff.
//
// Each file of a program refers to libteff_is_built_for() of its library and mode. libteff defines it for the
// library and mode of its build only. So the linker refuses a program that is compiled for another, and the
// message of the linker names the mode.
#pragma once

#include <version>

namespace teff::detail {

#if defined(_LIBCPP_VERSION)
struct libcxx;
using standard_library = libcxx;
#elif defined(_GLIBCXX_DEBUG)
struct libstdcxx_with_GLIBCXX_DEBUG;
using standard_library = libstdcxx_with_GLIBCXX_DEBUG;
#elif !_GLIBCXX_USE_CXX11_ABI
struct libstdcxx_with_GLIBCXX_USE_CXX11_ABI_0;
using standard_library = libstdcxx_with_GLIBCXX_USE_CXX11_ABI_0;
#else
struct libstdcxx;
using standard_library = libstdcxx;
#endif

void libteff_is_built_for(standard_library*) noexcept;
[[gnu::used]] inline void (*const refers_to_it)(standard_library*) noexcept = &libteff_is_built_for;

}  // namespace teff::detail
