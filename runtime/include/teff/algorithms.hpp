// C++17's parallel algorithms, as far as libteff has them: each in a header of its own.
#pragma once

#include <teff/find.hpp>
#include <teff/invoke.hpp>
#include <teff/reduce.hpp>
#include <teff/scan.hpp>
#include <teff/sort.hpp>
#include <teff/transform.hpp>
