// parallel_sort and parallel_stable_sort.
#pragma once

#include <teff/detail/loops/sorting.hpp>
#include <teff/detail/platform/ranges.hpp>
#include <teff/detail/scheduler/on_workers.hpp>

#include <functional>
#include <iterator>
#include <type_traits>

namespace teff {

// Sorts by `less`, as std::sort: equal elements may come in any order, but in the same one on any number of
// workers. In place; elements need not be copyable. A sorted range is only read. One worker alone makes the
// first partition, so any number of workers takes at least about 2 / log2(count) of one worker's time. If
// `less` throws, its exception is thrown when all tasks have ended; the elements can then be assigned to and
// destroyed, but their values are unspecified.
//
// `less` must be a strict weak order, as < is and <= is not. With any other function the order of the
// elements is unspecified, and may differ from run to run. The call still returns, keeps all elements, and
// touches none outside the range.
//
//   teff::parallel_sort(names);
//   teff::parallel_sort(orders.begin(), orders.end(), [](auto& a, auto& b) { return a.price < b.price; });
template <std::random_access_iterator It, class Less = std::less<>>
  requires loop_output<It> && std::sortable<It, Less>
void parallel_sort(It first, std::type_identity_t<It> last, Less less = {}) {
  detail::on_workers([&] {
    if (!detail::is_sorted_already(first, last, less)) detail::quicksort<It, Less>{less}.sort(first, last);
  });
}
template <std::ranges::random_access_range Range, class Less = std::less<>>
  requires loop_output<std::ranges::iterator_t<Range>> && std::sortable<std::ranges::iterator_t<Range>, Less>
void parallel_sort(Range&& range, Less less = {}) {
  const auto [first, last] = detail::range_bounds(range);
  parallel_sort(first, last, std::ref(less));
}

// Sorts as parallel_sort(), but equal elements keep their order, as in std::stable_sort. It needs memory for
// as many elements again, unless they are sorted already, and throws std::bad_alloc if there is none.
template <std::random_access_iterator It, class Less = std::less<>>
  requires loop_output<It> && std::sortable<It, Less>
void parallel_stable_sort(It first, std::type_identity_t<It> last, Less less = {}) {
  detail::on_workers([&] {
    if (!detail::is_sorted_already(first, last, less)) detail::stable_sort_over(first, last, less);
  });
}
template <std::ranges::random_access_range Range, class Less = std::less<>>
  requires loop_output<std::ranges::iterator_t<Range>> && std::sortable<std::ranges::iterator_t<Range>, Less>
void parallel_stable_sort(Range&& range, Less less = {}) {
  const auto [first, last] = detail::range_bounds(range);
  parallel_stable_sort(first, last, std::ref(less));
}

}  // namespace teff
