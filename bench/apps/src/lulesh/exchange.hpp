#pragma once

#include <cstddef>
#include <vector>

#include "lulesh/arrays.hpp"

namespace teff::apps::lulesh {

/// Values that domains beside each other exchange. A domain sends copies of its values, and keeps the others'
/// as ghosts, in the array in which its own are.
struct exchange {
  /// Values that cross to another domain, and as many from there.
  struct message {
    int rank;     ///< of the other domain
    index first;  ///< place in `sent`, and in `received`
    index count;
  };

  std::vector<message> messages;    ///< by rank; the other domain has one with as many values
  std::vector<const double*> from;  ///< the values that are sent
  std::vector<double*> to;          ///< the ghosts
  std::vector<double> sent;
  std::vector<double> received;

  /// Adds a message without values. Each value is then added by add().
  void begin(int rank) { messages.push_back({rank, static_cast<index>(from.size()), 0}); }
  void add(const double* own, double* ghost) {
    from.push_back(own);
    to.push_back(ghost);
    sent.push_back(0);
    received.push_back(0);
    ++messages.back().count;
  }

  /// Before the messages are sent.
  void collect() {
    for (std::size_t i = 0; i < from.size(); ++i) sent[i] = *from[i];
  }
  /// After they have come.
  void distribute() const {
    for (std::size_t i = 0; i < to.size(); ++i) *to[i] = received[i];
  }
};

}  // namespace teff::apps::lulesh
