#pragma once

#include "teff/programs/runner.hpp"

namespace teff::programs {

/// The main program of a system; see bench::drive.
int drive(int argc, char** argv, linked_system system);

}  // namespace teff::programs
