// Quicksort and merge sort, whose halves are tasks.
//
// A `less` that is no strict weak order, as <=, leaves the elements in some order, and does no more harm:
// every loop here ends by its bounds. std::sort would leave the range.
#pragma once

#include <teff/detail/loops/early_exit.hpp>
#include <teff/join.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace teff::detail {

inline constexpr std::ptrdiff_t sorted_alone =
    2048;  // elements: some tens of microseconds, if they are cheap
inline constexpr std::ptrdiff_t merged_alone = 8192;

// Whether there is nothing to sort: of elements in random order the first few show that there is, and where
// they are sorted, it takes a small part of the time of a sort. Of few it is not asked.
template <std::random_access_iterator It, class Less>
bool is_sorted_already(It first, It last, Less& less) {
  const auto count = static_cast<std::ptrdiff_t>(last - first);
  if (count <= sorted_alone) return false;
  const auto is_out_of_order = [&](std::ptrdiff_t i) {
    return static_cast<bool>(std::invoke(less, element_at(first, i), element_at(first, i - 1)));
  };
  return !holds_somewhere(std::ptrdiff_t{1}, count, is_out_of_order);
}

// Elements for which insertion sort is quicker than to split or merge them.
inline constexpr std::ptrdiff_t inserted = 24;

// Insertion sort, of few.
template <std::random_access_iterator It, class Less>
void insert_each(It first, It last, Less& less) {
  if (first == last) return;
  for (It next = first + 1; next != last; ++next) {
    if (!std::invoke(less, *next, *(next - 1))) continue;
    std::iter_value_t<It> element = std::move(*next);
    It gap = next;
    do {
      *gap = std::move(*(gap - 1));
      --gap;
    } while (gap != first && std::invoke(less, element, *(gap - 1)));
    *gap = std::move(element);
  }
}

// Quicksort in place, where the elements need no copies.
template <std::random_access_iterator It, class Less>
struct quicksort {
  Less& less;

  void sort(It first, It last) {
    const auto log = std::bit_width(static_cast<std::size_t>(last - first));
    sort(first, last, 2 * static_cast<int>(log));
  }

 private:
  static constexpr bool moves_numbers = std::is_arithmetic_v<std::iter_value_t<It>>;

  // `splits`: how often at most, so that bad pivots can't make it quadratic.
  void sort(It first, It last, int splits) {
    if (splits == 0) return sort_by_heap(first, last);
    const bool branches = !moves_numbers || is_mostly_in_order(first, last);
    if (last - first <= sorted_alone) return sort_alone(first, last, splits, branches);
    const std::pair<It, It> halves = split(first, last, branches);
    join([=, this] { sort(first, halves.first, splits - 1); },
         [=, this] { sort(halves.second, last, splits - 1); });
  }

  // The processor mispredicts half of the branches on comparisons of numbers in random order. That costs more
  // than a move of each number, so numbers are split without `branches`.
  void sort_alone(It first, It last, int splits, bool branches) {
    while (last - first > inserted) {
      if (splits == 0) return sort_by_heap(first, last);
      const std::pair<It, It> halves = split(first, last, branches);
      sort_alone(first, halves.first, --splits, branches);
      first = halves.second;
    }
    insert_each(first, last, less);
  }

  void sort_by_heap(It first, It last) {
    const auto count = static_cast<std::ptrdiff_t>(last - first);
    for (auto at = count / 2; at-- > 0;) sift(first, at, count);
    for (auto end = count; --end > 0;) {
      std::ranges::iter_swap(first, first + end);
      sift(first, 0, end);
    }
  }
  // Of a heap of `count` elements, element `at` may be less than those below it.
  void sift(It first, std::ptrdiff_t at, std::ptrdiff_t count) {
    for (auto child = 2 * at + 1; child < count; child = 2 * at + 1) {
      if (child + 1 < count && std::invoke(less, element_at(first, child), element_at(first, child + 1)))
        ++child;
      if (!std::invoke(less, element_at(first, at), element_at(first, child))) return;
      std::ranges::iter_swap(first + at, first + child);
      at = child;
    }
  }

  // By a sample of neighbours: whether a branch can be predicted. Of few it is not asked.
  bool is_mostly_in_order(It first, It last) {
    constexpr int sample = 64;
    constexpr int most = 4;
    if (last - first <= sample) return true;
    const auto step = (last - first) / sample;
    int descents = 0;
    for (int i = 0; i < sample; ++i) {
      descents += std::invoke(less, first[i * step + 1], first[i * step]) ? 1 : 0;
    }
    return descents <= most || descents >= sample - most;
  }

  // Elements less than the pivot; equal ones, if there may be many; the others.
  std::pair<It, It> split(It first, It last, bool branches) {
    std::ranges::iter_swap(first, pivot(first, last - first));
    const It middle = part(first, last, branches) - 1;
    std::ranges::iter_swap(first, middle);
    It right = middle + 1;
    if (middle - first < (last - first) / 8) {
      right = std::ranges::partition(right, last, [&](const auto& each) {
                return !static_cast<bool>(std::invoke(less, *middle, each));
              }).begin();
    }
    return {middle, right};
  }

  // Moves the elements less than the first one behind it; returns the end of these.
  It part(It first, It last, bool branches) {
    if constexpr (moves_numbers) {
      if (!branches) return part_without_branches(first, last);
    }
    return std::ranges::partition(
               first + 1, last,
               [&](const auto& each) { return static_cast<bool>(std::invoke(less, each, *first)); })
        .begin();
  }
  It part_without_branches(It first, It last)
    requires moves_numbers
  {
    const std::iter_value_t<It> pivot = *first;
    It end = first + 1;
    for (It next = end; next != last; ++next) {
      const std::iter_value_t<It> element = *next;
      const bool is_less = std::invoke(less, element, pivot);
      *next = *end;
      *end = element;
      end += is_less ? 1 : 0;
    }
    return end;
  }

  // The median of three medians of three.
  It pivot(It first, std::ptrdiff_t count) {
    const auto step = count / 9;
    const auto at = [&](int i) { return first + i * step + step / 2; };
    return median(median(at(0), at(1), at(2)), median(at(3), at(4), at(5)), median(at(6), at(7), at(8)));
  }
  It median(It a, It b, It c) {
    if (std::invoke(less, *b, *a)) std::swap(a, b);
    if (!std::invoke(less, *c, *b)) return b;
    return std::invoke(less, *c, *a) ? a : c;
  }
};

// Merge sort between two arrays of the same length.
template <class Less>
struct merge_sort {
  Less& less;

  // Sorts the elements that lie from `here` on. In the end they lie there, or in `there`.
  template <class Here, class There>
  void sort(Here here, There there, std::ptrdiff_t count, bool to_there) {
    if (count <= inserted) {
      insert_each(here, here + count, less);
      if (to_there) std::ranges::move(here, here + count, there);
      return;
    }
    const auto half = count / 2;
    const auto sort_first = [=, this] { sort(here, there, half, !to_there); };
    const auto sort_second = [=, this] { sort(here + half, there + half, count - half, !to_there); };
    if (count <= sorted_alone) {
      sort_first();
      sort_second();
    } else {
      join(sort_first, sort_second);
    }
    if (to_there) {
      merge(here, here + half, here + half, here + count, there);
    } else {
      merge(there, there + half, there + half, there + count, here);
    }
  }

 private:
  template <class From, class To>
  void merge(From a, From a_end, From b, From b_end, To to) {
    const auto in_a = static_cast<std::ptrdiff_t>(a_end - a);
    const auto in_b = static_cast<std::ptrdiff_t>(b_end - b);
    if (in_a + in_b <= merged_alone) return merge_alone(a, a_end, b, b_end, to);
    // The longer range is cut in its middle, the other one where that middle element belongs. Of equal
    // elements, the elements of `a` come first.
    From a_cut = a + in_a / 2;
    From b_cut = b + in_b / 2;
    if (in_a >= in_b) {
      b_cut = std::ranges::lower_bound(b, b_end, *a_cut, std::ref(less));
    } else {
      a_cut = std::ranges::upper_bound(a, a_end, *b_cut, std::ref(less));
    }
    const To to_cut = to + static_cast<std::ptrdiff_t>((a_cut - a) + (b_cut - b));
    join([=, this] { merge(a, a_cut, b, b_cut, to); },
         [=, this] { merge(a_cut, a_end, b_cut, b_end, to_cut); });
  }

  template <class From, class To>
  void merge_alone(From a, From a_end, From b, From b_end, To to) {
    while (a != a_end && b != b_end) {
      if (std::invoke(less, *b, *a)) {
        *to++ = std::move(*b++);
      } else {
        *to++ = std::move(*a++);
      }
    }
    std::ranges::move(b, b_end, std::ranges::move(a, a_end, to).out);
  }
};

// Room for elements that several workers write at the same time. No two elements share a byte.
template <class T>
using shared_buffer = std::conditional_t<std::same_as<T, bool>, std::deque<bool>, std::vector<T>>;

template <std::random_access_iterator It, class Less>
void stable_sort_over(It first, It last, Less& less) {
  const auto count = static_cast<std::ptrdiff_t>(last - first);
  shared_buffer<std::iter_value_t<It>> buffer;
  if constexpr (requires { buffer.reserve(0); }) buffer.reserve(static_cast<std::size_t>(count));
  std::ranges::move(first, last, std::back_inserter(buffer));
  merge_sort<Less>{less}.sort(buffer.begin(), first, count, true);
}

}  // namespace teff::detail
