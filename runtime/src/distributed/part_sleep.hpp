// How a worker of a replay sleeps until another worker, maybe of another process, rings its bell (replay.md).
//
// tests/rank_replay_model_test.cpp checks this code on its interleavings.
#pragma once

#include "platform/bell.hpp"

#include <algorithm>
#include <chrono>

namespace teff::detail {

// Returns when done(), which becomes true before the bell is rung. The bell has one sleeper. barrier() has
// all threads that may ring it execute a full fence. So the last look sees the store that makes done() true,
// or the thread that rings sees that the bell was listened to.
template <class System, class Done, class Barrier>
void sleep_on(bell<System>& own, Done done, Barrier barrier) noexcept {
  for (;;) {
    const auto quiet = own.listen();
    barrier();
    if (done()) break;
    System::wait(own.word(), quiet);
  }
  own.rise();
}

// The same where nobody rings for some of what makes done() true: it looks again and again, the more rarely
// the longer it has waited.
template <class System, class Done>
void sleep_and_look(bell<System>& own, Done done) noexcept {
  using namespace std::chrono_literals;
  constexpr std::chrono::microseconds longest = 1ms;
  for (std::chrono::microseconds nap = 20us;; nap = std::min(2 * nap, longest)) {
    const auto quiet = own.listen();
    if (done()) break;
    System::wait_at_most(own.word(), quiet, nap);
  }
  own.rise();
}

}  // namespace teff::detail
