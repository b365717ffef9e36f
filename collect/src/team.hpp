// The threads of a parallel region (README.md: the end of a region). A worker's runtime says late or never that the region ended. So the
// master closes the accounts of its workers when the region ends. Until the next region begins, a worker touches its seat only
// to leave it.
#pragma once

#include <atomic>
#include <cstdint>

#include "seat.hpp"

namespace teff::collect {

class team {
 public:
  // The master's thread begins the region.
  team(seat& master, const void* address, std::uint32_t runtime);

  // A thread of the team begins its part of the region. False if nothing is kept of it.
  bool begin_body();

  // The master's thread, after the region: its workers have ended their parts, and the master knows by the runtime's barrier.
  void end();

 private:
  bool begin_body(seat& one);
  void close_workers(std::uint64_t now, std::uint64_t last_end);

  seat& master_;
  const void* address_;
  std::uint32_t runtime_;
  std::uint64_t begin_;
  activation* outer_; // of the master, as are the next two
  state before_;
  std::uint32_t outer_runtime_;
  std::atomic<seat*> workers_{nullptr};
};

} // namespace teff::collect
