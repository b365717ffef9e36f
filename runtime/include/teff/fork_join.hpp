// Fork-join: join, fork, scope and spawn, parallel_for, parallel_reduce.
#pragma once

#include <teff/error.hpp>
#include <teff/fork.hpp>
#include <teff/join.hpp>
#include <teff/loops.hpp>
#include <teff/named.hpp>
#include <teff/reduce.hpp>
#include <teff/scope.hpp>
