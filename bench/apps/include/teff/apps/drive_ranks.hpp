#pragma once

#include <functional>
#include <memory>

#include "teff/apps/system.hpp"

namespace teff::apps {

/// The main program of a system of several ranks. A launcher starts as many ranks as there are workers. MPI
/// is initialised at `thread_level`, as MPI_Init_thread takes it, and no other code uses it during a run.
int drive_ranks(int argc, char** argv, int thread_level,
                const std::function<std::unique_ptr<system>()>& make);

}  // namespace teff::apps
