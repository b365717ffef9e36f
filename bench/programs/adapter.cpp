// All programs on one system: TEFF_PROGRAMS is the header of its folder that says how it is parallel.
#include TEFF_PROGRAMS

#include "teff/programs/runner.hpp"

namespace teff::programs {

linked_system this_system() {
  return {.start = [](int workers) -> std::unique_ptr<program_runner> {
            return std::make_unique<program_runner_of<program_system>>(workers);
          },
          .default_workers = &default_workers<program_system>};
}

}  // namespace teff::programs
