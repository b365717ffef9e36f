// The functions of an MPI adapter that differ where SimGrid runs it in simulated time. The linker puts these
// functions in the place of the program's (--wrap). SIMULATED_MACHINE is a machine as simulated_nodes reads
// it, of which the costs of a task and the detours count here: SimGrid has the network and the costs of
// messages.
#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>

#include "cores.hpp"
#include "machine.hpp"

#define EXECUTE(prefix) \
  prefix##_ZN4teff6graphs6worker7executeERKNS1_14prepared_graphEllPSt4bytemPKSt4spanIKS5_Lm1844674407370955161\
5EEm

extern "C" {

/// The clock of the timed region.
std::chrono::steady_clock::time_point __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  const std::chrono::duration<double> now(simgrid_get_clock());
  return std::chrono::steady_clock::time_point(std::chrono::duration_cast<std::chrono::nanoseconds>(now));
}

/// The look for gaps beside a run: no simulated time passes in it.
double __wrap__ZN4teff5bench17measure_gap_shareEv() {
  return 0;
}

/// A task (teff::graphs::worker::execute): it is validated as ever, and then takes its time.
void EXECUTE(__real_)(void*, const void*, long, long, std::byte*, std::size_t, const void*, std::size_t);
void EXECUTE(__wrap_)(void* self, const void* graph, long timestep, long point, std::byte* output,
                      std::size_t bytes, const void* inputs, std::size_t count) {
  EXECUTE(__real_)(self, graph, timestep, point, output, bytes, inputs, count);
  static const teff::simulated::machine on = teff::simulated::read_machine(std::getenv("SIMULATED_MACHINE"));
  static teff::simulated::cores all(on, 1 << 12, on.seed.value_or(0));
  const double now = simgrid_get_clock();
  sg_actor_sleep_for(all.end_of(static_cast<int>(sg_actor_self_get_pid()), now, on.task) - now);
}
}
