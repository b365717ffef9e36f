#pragma once

#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/search.hpp"

namespace teff::programs {

/// One task spawns all others, which do next to nothing.
class spawns {
 public:
  static constexpr description about{.name = "spawns",
                                     .title = "spawns by one task",
                                     .needs = way::fork_join,
                                     .unit = "tasks",
                                     .sizes = {1000, 1'000'000, 10'000'000},
                                     .most = 1'000'000'000};

  explicit spawns(std::int64_t tasks) : cells_(tasks) {}

  void reset() {
    for (std::uint8_t& cell : cells_) cell = 0;
  }
  template <class System>
  void run(System& system) {
    system.run_tasks([this] {
      System::scope([this](auto& tasks) {
        for (std::uint8_t& cell : cells_) tasks.spawn([&cell] { touch(&cell); });
      });
    });
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(cells_); }

 private:
  buffer<std::uint8_t> cells_;
};

}  // namespace teff::programs
