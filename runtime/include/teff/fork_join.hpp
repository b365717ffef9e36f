// Fork-join: join, fork, scope and spawn; loops, and algorithms made of them.
#pragma once

#include <teff/algorithms.hpp>
#include <teff/error.hpp>
#include <teff/fork.hpp>
#include <teff/grid.hpp>
#include <teff/join.hpp>
#include <teff/loops.hpp>
#include <teff/named.hpp>
#include <teff/scope.hpp>
