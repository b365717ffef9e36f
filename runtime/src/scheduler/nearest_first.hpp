// The order in which a thief tries the other workers: nearer ones first; among those equally near, from a
// random one on.
#pragma once

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

  // Calls look(other) until it says true: those of one distance after those nearer, from one on that `random`
  // chooses.
  template <class Look>
  void look_at_each(std::uint64_t random, Look look) const {
    std::size_t first = 0;
    for (const std::size_t end : class_ends_) {
      std::size_t at = first + random % (end - first);
      for (std::size_t i = first; i < end; ++i, at = at + 1 == end ? first : at + 1) {
        if (look(others_[at])) return;
      }
      first = end;
    }
  }

 private:
  std::vector<T> others_;
  std::vector<std::size_t> class_ends_;
};

}  // namespace teff::detail
