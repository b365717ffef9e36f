// The accesses of a flow's task: in, out, inout, commutative, concurrent, reduction, weak, and sections.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/flow/range.hpp>
#include <teff/error.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace teff {

namespace detail {
enum class access_mode : std::uint8_t { in, write, concurrent, commutative, reduction };
}  // namespace detail

// A part of memory that a task touches, and how. in() and the functions below make it. A program that
// computes a list of accesses passes it to flow::task() as a span.
class access {
 public:
  // ---- For parts of libteff ----
  const std::byte* first = nullptr;
  std::size_t bytes = 0;  // of a row; 0: nothing is touched
  std::size_t rows = 1;
  std::size_t stride = 0;  // bytes from row to row
  detail::access_mode mode = detail::access_mode::in;
  bool weak = false;
  const void* operation = nullptr;  // of a reduction
};

// Rows of elements, as section() makes them.
template <class T>
struct strided {
  T* first;
  std::size_t count;  // of a row
  std::size_t rows;
  std::size_t stride;  // elements from row to row
};

namespace detail {

template <class T>
inline constexpr bool is_strided = false;
template <class T>
inline constexpr bool is_strided<strided<T>> = true;

template <class R>
concept elements = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;

// A temporary that owns its elements, as a vector, dies before the task runs.
template <class R>
consteval void expect_no_temporary() {
  static_assert(std::ranges::borrowed_range<R>, "name a range that outlives the task, not a temporary");
}

template <class What>
[[nodiscard]] access access_to(What&& what, access_mode mode) noexcept {
  using plain = std::remove_cvref_t<What>;
  const auto at = [](const void* first) { return static_cast<const std::byte*>(first); };
  if constexpr (is_strided<plain>) {
    const auto size = sizeof(*what.first);
    return {at(what.first), what.count * size, what.rows, what.stride * size, mode};
  } else if constexpr (elements<What>) {
    expect_no_temporary<What>();
    const std::size_t count = std::ranges::size(what);
    return {at(std::ranges::data(what)), count * sizeof(std::ranges::range_value_t<What>), 1, 0, mode};
  } else {
    static_assert(std::is_lvalue_reference_v<What>, "name an object that outlives the task, not a temporary");
    return {at(std::addressof(what)), sizeof(plain), 1, 0, mode};
  }
}

// Of a range of `size` elements.
[[noreturn, gnu::cold]] void refuse_section(std::size_t first, std::size_t count, std::size_t rows,
                                            std::size_t stride, std::size_t size);

// The value with which a reduction's private copy starts, unless the program gives one.
template <class T, class Op>
[[nodiscard]] constexpr T identity_of() {
  if constexpr (std::same_as<Op, std::multiplies<>> || std::same_as<Op, std::multiplies<T>>)
    return T(1);
  else
    return T();
}

// A task's part in a reduction, until the task is made. The task's closure then has a private copy.
template <class T, class Op, bool Array>
struct reduction_access {
  std::span<T> of;
  Op op;
  T identity;
};

// Its address identifies the type and the operation of a reduction.
template <class T, class Op>
inline constexpr char operation_tag = 0;

}  // namespace detail

// The task reads it. `what` is an object, a contiguous range such as a vector or a span, or a section(). A
// range stands for its elements. The memory that a task names must outlive the task.
template <class What>
[[nodiscard]] access in(What&& what) noexcept {
  return detail::access_to(std::forward<What>(what), detail::access_mode::in);
}
// The task writes all of it, and does not read its old value.
template <class What>
[[nodiscard]] access out(What&& what) noexcept {
  return detail::access_to(std::forward<What>(what), detail::access_mode::write);
}
// The task reads and writes it.
template <class What>
[[nodiscard]] access inout(What&& what) noexcept {
  return detail::access_to(std::forward<What>(what), detail::access_mode::write);
}
// The task updates it. Commutative tasks in a row run one after the other, in any order.
template <class What>
[[nodiscard]] access commutative(What&& what) noexcept {
  return detail::access_to(std::forward<What>(what), detail::access_mode::commutative);
}
// The task updates it. Concurrent tasks in a row run at the same time, so their bodies must synchronise.
template <class What>
[[nodiscard]] access concurrent(What&& what) noexcept {
  return detail::access_to(std::forward<What>(what), detail::access_mode::concurrent);
}

// The task adds to it. Each reduction gives the body a private copy that starts as `identity`. The argument
// is a T& for an object, and a std::span<T> for a range. `op` combines the copies of the tasks in a row, in
// the order of their making. So the result has the same bits on any number of workers. The library combines a
// copy when the inner tasks of its task have ended, too, so they may add to it.
//
// Each task fills and combines a copy of the whole range. The copies that wait for their turn take 2 MiB at
// most, or two copies for each worker if that is more, and are 1024 at most. Further tasks of the row begin
// later.
//
//   f.task(teff::in(block), teff::reduction(sum), [&](double& mine) { for (double x : block) mine += x; });
//
// `op(into, from)` returns the combined value. `identity` is T(1) for std::multiplies, and T() otherwise.
template <class T, class Op = std::plus<>>
  requires(!detail::elements<T&>)
[[nodiscard]] auto reduction(T& object, Op op = {}, T identity = detail::identity_of<T, Op>()) {
  return detail::reduction_access<T, Op, false>{std::span<T>(&object, 1), std::move(op), std::move(identity)};
}
template <detail::elements R, class Op = std::plus<>, class T = std::ranges::range_value_t<R>>
[[nodiscard]] auto reduction(R&& range, Op op = {}, T identity = detail::identity_of<T, Op>()) {
  detail::expect_no_temporary<R>();
  return detail::reduction_access<T, Op, true>{std::span<T>(range), std::move(op), std::move(identity)};
}

// Only inner tasks of the task touch it. The task begins without waiting for it. A later task that waits for
// it begins when the body has ended, and all inner tasks that touch the access have. The access ends as a
// whole: no part of it is released earlier.
[[nodiscard]] inline access weak(access of) noexcept {
  of.weak = true;
  return of;
}

// The elements [first, first + count) of a range. Throws misuse if they are not all in it.
template <detail::elements R>
[[nodiscard]] auto section(R&& whole, std::size_t first, std::size_t count) {
  detail::expect_no_temporary<R>();
  const std::span of(whole);
  if (first > of.size() || count > of.size() - first) [[unlikely]]
    detail::refuse_section(first, count, 1, 0, of.size());
  return of.subspan(first, count);
}
// The elements whose numbers are in `some`.
template <detail::elements R>
[[nodiscard]] auto section(R&& whole, range some) {
  return section(std::forward<R>(whole), static_cast<std::size_t>(some.first), some.size());
}
// Rows of `count` elements. The first row begins at element `first`, and each further row `stride` elements
// after the row before. Throws misuse if they are not all in the range.
//
//   f.task(teff::inout(teff::section(matrix, row * n + column, 64, 64, n)), [=] { update(row, column); });
template <detail::elements R>
[[nodiscard]] auto section(R&& whole, std::size_t first, std::size_t count, std::size_t rows,
                           std::size_t stride) {
  detail::expect_no_temporary<R>();
  const std::span of(whole);
  // No product or sum here may be larger than a std::size_t.
  const bool fits = rows == 0 || (first <= of.size() && count <= of.size() - first &&
                                  (rows == 1 || stride <= (of.size() - first - count) / (rows - 1)));
  if (!fits) [[unlikely]]
    detail::refuse_section(first, count, rows, stride, of.size());
  using element = typename decltype(of)::element_type;
  return strided<element>{of.data() + first, rows == 0 ? 0 : count, rows == 0 ? 1 : rows, stride};
}

}  // namespace teff
