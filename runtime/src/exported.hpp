// Included before every source file of the library, which is compiled with -fvisibility=hidden: a shared
// library exports what the public headers declare. tests/consumer/exported.txt is the list.
#pragma once

#pragma GCC visibility push(default)
#include <teff/teff.h>
#include <teff/mpi.hpp>
#include <teff/teff.hpp>
#pragma GCC visibility pop
