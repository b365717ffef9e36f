// A wait of a worker: its condition, its limits, and how far its search has come.
#pragma once

#include "scheduler/search_pace.hpp"
#include "scheduler/worker.hpp"

#include <chrono>
#include <cstdint>

namespace teff::detail {

// A callable that says whether something has happened; it outlives this.
class condition {
 public:
  template <class Holds>
  explicit condition(const Holds& holds) noexcept
      : what_(&holds), holds_([](const void* what) { return (*static_cast<const Holds*>(what))(); }) {}
  bool operator()() const noexcept { return holds_(what_); }

 private:
  const void* what_;
  bool (*holds_)(const void*);
};

struct worker::waiting {
  const condition done;
  const may_run limit;
  const awaited_work awaited;
  const waits where;
  search_pace pace;
  bool searching = false;
  bool ran_source = false;  // it has run work of a source
  unsigned fruitless = 0;   // looks in vain since it ran something
  // When requests are lent that it sees and may not run.
  search_pace::clock::time_point lends_at = search_pace::clock::time_point::max();
};

}  // namespace teff::detail
