#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>

namespace teff::graphs {

/// The points first..last, both included; empty where last < first.
struct interval {
  std::int64_t first = 0;
  std::int64_t last = -1;

  [[nodiscard]] constexpr std::int64_t size() const { return last < first ? 0 : last - first + 1; }
  [[nodiscard]] constexpr bool contains(std::int64_t point) const { return first <= point && point <= last; }
  [[nodiscard]] constexpr interval clipped_to(interval bounds) const {
    return {std::max(first, bounds.first), std::min(last, bounds.last)};
  }
  friend constexpr bool operator==(interval, interval) = default;
};

/// Takes the intervals of a pattern's answer, one by one. It is a non-owning reference to a callable, so a
/// dependence query allocates nothing and has no limit on its radix.
class interval_sink {
 public:
  template <class Function>
    requires(std::is_invocable_v<Function&, interval> && !std::is_same_v<Function, interval_sink>)
  explicit interval_sink(Function& function)
      : object_(std::addressof(function)),
        call_([](void* object, interval points) { (*static_cast<Function*>(object))(points); }) {}

  /// Passes on a non-empty interval; drops an empty one.
  void operator()(interval points) const {
    if (points.size() > 0) call_(object_, points);
  }

 private:
  void* object_;
  void (*call_)(void*, interval);
};

/// The points of a list of intervals that lie within `bounds`, in the list's order: a forward range that does
/// not own its storage.
class point_range {
 public:
  class iterator {
   public:
    using value_type = std::int64_t;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;
    using pointer = const std::int64_t*;
    using reference = std::int64_t;

    iterator() = default;
    iterator(const interval* here, const interval* end, interval bounds)
        : here_(here), end_(end), bounds_(bounds) {
      enter();
    }
    std::int64_t operator*() const { return point_; }
    iterator& operator++() {
      if (++point_ > last_) {
        ++here_;
        enter();
      }
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const iterator& a, const iterator& b) {
      return a.here_ == b.here_ && (a.here_ == a.end_ || a.point_ == b.point_);
    }

   private:
    /// Moves to the first interval from `here_` on that has a point within the bounds.
    void enter() {
      for (; here_ != end_; ++here_) {
        const interval points = here_->clipped_to(bounds_);
        point_ = points.first;
        last_ = points.last;
        if (point_ <= last_) return;
      }
    }

    const interval* here_ = nullptr;
    const interval* end_ = nullptr;
    interval bounds_;
    std::int64_t point_ = 0;
    std::int64_t last_ = -1;
  };

  point_range() = default;
  point_range(std::span<const interval> intervals, interval bounds)
      : intervals_(intervals), bounds_(bounds) {}

  [[nodiscard]] iterator begin() const { return {data(), data_end(), bounds_}; }
  [[nodiscard]] iterator end() const { return {data_end(), data_end(), bounds_}; }
  /// The list, of which only the part within the bounds counts.
  [[nodiscard]] std::span<const interval> intervals() const { return intervals_; }
  [[nodiscard]] interval bounds() const { return bounds_; }
  [[nodiscard]] std::int64_t size() const {
    std::int64_t points = 0;
    for (const interval& each : intervals_) points += each.clipped_to(bounds_).size();
    return points;
  }

 private:
  [[nodiscard]] const interval* data() const { return intervals_.data(); }
  [[nodiscard]] const interval* data_end() const { return intervals_.data() + intervals_.size(); }

  std::span<const interval> intervals_;
  interval bounds_;
};

}  // namespace teff::graphs
