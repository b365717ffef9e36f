// The order in which a thief tries the other workers: nearer ones first; among those equally near, from a
// random one on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <type_traits>
#include <vector>

namespace teff::detail {

template <class T>
class nearest_first {
 public:
  nearest_first() = default;
  // `distance(other)`: less is nearer.
  template <class Distance>
  nearest_first(const std::vector<T>& others, const Distance& distance) {
    std::map<std::invoke_result_t<const Distance&, const T&>, std::vector<T>> classes;
    for (const T& each : others) classes[distance(each)].push_back(each);
    for (const auto& [_, members] : classes) {
      others_.insert(others_.end(), members.begin(), members.end());
      class_ends_.push_back(others_.size());
    }
  }

  [[nodiscard]] bool empty() const noexcept { return others_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return others_.begin(); }
  [[nodiscard]] auto end() const noexcept { return others_.end(); }

  // Calls look(other) until it returns true. It takes the nearest workers first, and begins at a worker that
  // `random` chooses among the workers of one distance.
  template <class Look>
  void look_at_each(std::uint64_t random, Look look) const {
    look_at(random, others_.size(), look);
  }
  // The same for a few of each distance. In succession the turns come to each of them.
  template <class Look>
  void look_at_some(std::uint64_t turn, Look look) const {
    look_at(turn * few, few, look);
  }

 private:
  static constexpr std::size_t few = 2;

  template <class Look>
  void look_at(std::uint64_t from, std::size_t most, Look look) const {
    std::size_t first = 0;
    for (const std::size_t end : class_ends_) {
      std::size_t at = first + from % (end - first);
      for (std::size_t i = std::min(most, end - first); i != 0; --i, at = at + 1 == end ? first : at + 1) {
        if (look(others_[at])) return;
      }
      first = end;
    }
  }

  std::vector<T> others_;
  std::vector<std::size_t> class_ends_;
};

}  // namespace teff::detail
