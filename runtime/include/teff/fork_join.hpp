// Fork-join: join, scope and spawn, parallel_for, parallel_reduce.
#pragma once

#include <teff/join.hpp>
#include <teff/loops.hpp>
#include <teff/named.hpp>
#include <teff/scope.hpp>
