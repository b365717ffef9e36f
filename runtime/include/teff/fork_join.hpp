// Fork-join: join, fork, scope and spawn; loops, and algorithms made of them.
#pragma once

#include <teff/error.hpp>
#include <teff/find.hpp>
#include <teff/fork.hpp>
#include <teff/grid.hpp>
#include <teff/join.hpp>
#include <teff/loops.hpp>
#include <teff/named.hpp>
#include <teff/reduce.hpp>
#include <teff/scan.hpp>
#include <teff/scope.hpp>
#include <teff/sort.hpp>
#include <teff/transform.hpp>
