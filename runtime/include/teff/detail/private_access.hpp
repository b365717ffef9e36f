// The members of public classes that only libteff uses.
#pragma once

#include <mutex>

namespace teff::detail {

// A friend of these classes.
struct private_access {
  // The scheduler of a runtime, the outcome of a future.
  template <class T>
  static decltype(auto) internals(T& of) {
    return of.internals();
  }
  // A communicator's source of messages.
  template <class T>
  static auto& source(T& of) noexcept {
    return of.source();
  }
  // The outcome that a future owns; the future is of nothing from now on.
  template <class Future>
  static auto give_away(Future& of) noexcept {
    return of.give_away();
  }
  // A future of this outcome.
  template <class Future, class Outcome>
  static Future future_of(Outcome outcome) noexcept {
    return Future(static_cast<Outcome&&>(outcome));
  }
  // How many of a kind, as "communicator", have been made over a transport, with one that is about to be. All
  // ranks make them in the same order: so the number means the same there.
  template <class Transport, class Kind>
  static unsigned count_next(Transport& of, const Kind& kind) {
    const std::lock_guard lock(of.counting_);
    return ++of.made_[kind];
  }
};

}  // namespace teff::detail
