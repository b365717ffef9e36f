// All of libteff.
#pragma once

#include <teff/blocking.hpp>
#include <teff/flow.hpp>
#include <teff/fork_join.hpp>
#include <teff/future.hpp>
#include <teff/parallel_graph.hpp>
#include <teff/pipeline.hpp>
#include <teff/replay.hpp>
#include <teff/runtime.hpp>
#include <teff/task_graph.hpp>
#include <teff/version.hpp>
