#pragma once

#include <functional>
#include <memory>

#include "teff/apps/system.hpp"
#include "teff/bench/cores.hpp"

namespace teff::apps {

/// The main program of a system of one process; see bench::drive. With `--way WAY` as the first two words of
/// the command line, it runs apps in that way only. Otherwise it runs each app in the way that suits the app
/// best, of the ways that the system has.
int drive(int argc, char** argv, const std::function<std::unique_ptr<system>(int workers)>& make,
          int workers = bench::usable_cores());

/// As above, for a class whose constructor takes the number of workers.
template <class System>
int drive(int argc, char** argv, int workers = bench::usable_cores()) {
  return drive(argc, argv, [](int count) { return std::make_unique<System>(count); }, workers);
}

}  // namespace teff::apps
