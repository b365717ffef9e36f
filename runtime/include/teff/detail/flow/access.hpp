// The accesses of a flow's task: in, out, inout, commutative, concurrent, reduction, weak, and sections.
#pragma once

#include <teff/detail/flow/range.hpp>
#include <teff/detail/platform/ranges.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
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

// It would name the pointer, where the program means what it points to.
template <class What>
consteval void expect_no_pointer() {
  using plain = std::remove_cvref_t<What>;
  static_assert(!std::is_pointer_v<plain> && !std::input_or_output_iterator<plain>,
                "a pointer or an iterator does not say how many elements the task touches: name the object, "
                "as in(*p), or the elements, as in(std::span(p, n))");
}

// The memory that an argument of in(), teff::mpi::isend() and the like names: an object, the elements of a
// contiguous range, or a section().
template <class What>
[[nodiscard]] constexpr auto memory_of(What&& what) noexcept {
  expect_no_pointer<What>();
  if constexpr (is_strided<std::remove_cvref_t<What>>) {
    return what;
  } else if constexpr (elements<What>) {
    expect_no_temporary<What>();
    using element = std::remove_reference_t<std::ranges::range_reference_t<What>>;
    return strided<element>{std::ranges::data(what), std::ranges::size(what), 1, 0};
  } else {
    static_assert(std::is_lvalue_reference_v<What>, "name an object that outlives the task, not a temporary");
    return strided<std::remove_reference_t<What>>{std::addressof(what), 1, 1, 0};
  }
}
template <class Byte, class T>
[[nodiscard]] strided<Byte> bytes_of(const strided<T>& rows) noexcept {
  return {reinterpret_cast<Byte*>(rows.first), rows.count * sizeof(T), rows.rows, rows.stride * sizeof(T)};
}

template <class What>
[[nodiscard]] access access_to(What&& what, access_mode mode) noexcept {
  const auto bytes = bytes_of<const std::byte>(memory_of(std::forward<What>(what)));
  return {bytes.first, bytes.count, bytes.rows, bytes.stride, mode};
}

// Of a range of `size` elements.
[[noreturn, gnu::cold]] void refuse_section(std::size_t first, std::size_t count, std::size_t rows,
                                            std::size_t stride, std::size_t size);

// Whether the operation is std::plus<> or std::plus<T>, or another one of this kind.
template <class Op, class T, template <class> class... Known>
concept one_of = ((std::same_as<Op, Known<void>> || std::same_as<Op, Known<T>>) || ...);

// The value with which the private copy of a reduction starts, unless the program gives one.
template <class T, class Op>
[[nodiscard]] constexpr T identity_of() {
  if constexpr (one_of<Op, T, std::plus, std::logical_or, std::bit_or, std::bit_xor>) {
    return T();
  } else if constexpr (one_of<Op, T, std::multiplies>) {
    return T(1);
  } else if constexpr (one_of<Op, T, std::logical_and> ||
                       (one_of<Op, T, std::bit_and> && std::same_as<T, bool>)) {
    return T(true);
  } else if constexpr (one_of<Op, T, std::bit_and>) {
    return static_cast<T>(~T());
  } else {
    static_assert(sizeof(Op) == 0,
                  "the library does not know the identity of this operation: give it as the third argument "
                  "of reduction(), for a minimum the largest value");
  }
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
// `op(into, from)` returns the combined value. `identity` may be left out for std::plus, std::multiplies,
// std::logical_and, std::logical_or, std::bit_and, std::bit_or and std::bit_xor. For std::plus it is T().
//
//   f.task(teff::in(x), teff::reduction(all, std::logical_and<>{}), [&](bool& mine) { mine &= x > 0; });
//   f.task(teff::in(x), teff::reduction(least, lesser, 1e300), [&](double& mine) { mine = lesser(mine, x);
//   });
template <class T, class Op>
  requires(!detail::elements<T&>)
[[nodiscard]] auto reduction(T& object, Op op, std::type_identity_t<T> identity) {
  detail::expect_no_pointer<T>();
  return detail::reduction_access<T, Op, false>{std::span<T>(std::addressof(object), 1), std::move(op),
                                                std::move(identity)};
}
template <detail::elements R, class Op>
[[nodiscard]] auto reduction(R&& range, Op op, std::ranges::range_value_t<R> identity) {
  detail::expect_no_temporary<R>();
  using element = std::ranges::range_value_t<R>;
  return detail::reduction_access<element, Op, true>{std::span<element>(range), std::move(op),
                                                     std::move(identity)};
}
template <class T, class Op = std::plus<>>
  requires(!detail::elements<T&>)
[[nodiscard]] auto reduction(T& object, Op op = {}) {
  return reduction(object, std::move(op), detail::identity_of<T, Op>());
}
template <detail::elements R, class Op = std::plus<>>
[[nodiscard]] auto reduction(R&& range, Op op = {}) {
  return reduction(std::forward<R>(range), std::move(op),
                   detail::identity_of<std::ranges::range_value_t<R>, Op>());
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
