// The continuations of an outcome: called when it is there. tests/request_model_test.cpp checks this code on
// its interleavings.
#pragma once

#include <teff/detail/scheduler/release_list.hpp>

#include <atomic>
#include <utility>

namespace teff::detail {

// Called once when an outcome is there, on the thread that brought it. Intrusive: kept alive until then.
struct continuation {
  void (*run)(continuation&) noexcept;
  continuation* next = nullptr;
};

// The continuations of an outcome that is not there.
template <template <class> class Atomic = std::atomic>
struct continuation_stack : release_list<continuation, Atomic> {
  // The outcome is there: calls the continuations, oldest first.
  void end() noexcept {
    continuation* oldest = nullptr;
    for (auto* each = this->release(); each != nullptr;)
      oldest = std::exchange(each, std::exchange(each->next, oldest));
    while (oldest != nullptr) {
      auto& next = *std::exchange(oldest, oldest->next);  // it may be gone once it has run
      next.run(next);
    }
  }
};

}  // namespace teff::detail
