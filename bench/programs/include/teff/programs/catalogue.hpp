#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "teff/programs/description.hpp"
#include "teff/programs/fork_join/alignment.hpp"
#include "teff/programs/fork_join/fft.hpp"
#include "teff/programs/fork_join/floorplan.hpp"
#include "teff/programs/fork_join/health.hpp"
#include "teff/programs/fork_join/knapsack.hpp"
#include "teff/programs/fork_join/nqueens.hpp"
#include "teff/programs/fork_join/skynet.hpp"
#include "teff/programs/fork_join/sort.hpp"
#include "teff/programs/fork_join/sparselu.hpp"
#include "teff/programs/fork_join/spawns.hpp"
#include "teff/programs/fork_join/strassen.hpp"
#include "teff/programs/graphs/chain.hpp"
#include "teff/programs/graphs/cholesky.hpp"
#include "teff/programs/graphs/lu.hpp"
#include "teff/programs/graphs/random_dag.hpp"
#include "teff/programs/graphs/small_graphs.hpp"
#include "teff/programs/graphs/wavefront.hpp"
#include "teff/programs/loops/axpy.hpp"
#include "teff/programs/loops/bfs.hpp"
#include "teff/programs/loops/black_scholes.hpp"
#include "teff/programs/loops/histogram.hpp"
#include "teff/programs/loops/mandelbrot.hpp"
#include "teff/programs/loops/nbody.hpp"
#include "teff/programs/loops/small_loops.hpp"
#include "teff/programs/loops/sums.hpp"
#include "teff/programs/pipelines/pipeline.hpp"
#include "teff/programs/requests/small_requests.hpp"

namespace teff::programs {

/// All programs, in the order in which they are listed.
///
/// Each program is a class with a description `about`. It is constructed with a size and has `void
/// run(system)`, a template over the system, and `checksum()` of the last run's result. If a run changes its
/// input, the class also has `reset()`, which makes the input again.
using all_programs =
    std::tuple<nqueens, knapsack, floorplan, skynet, spawns, sort, fft, strassen, sparselu, alignment, health,
               cholesky, lu, wavefront, random_dag, chain, small_graphs, pipeline, mandelbrot, black_scholes,
               nbody, histogram, bfs, reduce, reductions, axpy_16k, axpy_16m, small_loops, small_loops_inside,
               small_requests, batches_of_requests>;

/// The descriptions of the programs, without their code.
[[nodiscard]] std::span<const description> catalogue();
/// The description of the program of this name. Throws bench::usage_error.
[[nodiscard]] const description& described(std::string_view name);

/// Calls visit.operator()<Program>() with the program of this name, which there is.
template <class Visit>
void with_program(std::string_view name, const Visit& visit) {
  [&]<class... Program>(std::type_identity<std::tuple<Program...>>) {
    ((Program::about.name == name ? visit.template operator()<Program>() : void()), ...);
  }(std::type_identity<all_programs>());
}

}  // namespace teff::programs
