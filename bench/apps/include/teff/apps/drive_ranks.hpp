#pragma once

#include <functional>
#include <memory>

#include "teff/apps/system.hpp"

namespace teff::apps {

/// The main program of a system of several ranks. A launcher starts the ranks, which share the workers; by
/// default there is a worker a rank. `make` receives the number of this rank's workers, at least one. MPI is
/// initialised at `thread_level`, as MPI_Init_thread takes it, and no other code uses it during a run. With
/// `--way WAY` as the first two words of the command line, it runs apps in that way only, as drive() does.
int drive_ranks(int argc, char** argv, int thread_level,
                const std::function<std::unique_ptr<system>(int workers)>& make);

}  // namespace teff::apps
