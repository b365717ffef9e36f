// All of libteff, but for jobs that MPI has started (mpi.hpp).
#pragma once

#include <teff/attach.hpp>
#include <teff/blocking.hpp>
#include <teff/collectives.hpp>
#include <teff/distributed_graph.hpp>
#include <teff/distributed_replay.hpp>
#include <teff/flow.hpp>
#include <teff/fork_join.hpp>
#include <teff/future.hpp>
#include <teff/isolate.hpp>
#include <teff/loopback.hpp>
#include <teff/message.hpp>
#include <teff/parallel_graph.hpp>
#include <teff/pipeline.hpp>
#include <teff/replay.hpp>
#include <teff/runtime.hpp>
#include <teff/simulated.hpp>
#include <teff/task_coroutine.hpp>
#include <teff/task_graph.hpp>
#include <teff/transport.hpp>
