// future: the value of something that was submitted to a runtime, once it is there.
//
//   teff::runtime rt;
//   teff::future<int> a = rt.submit([] { return fetch(1); });
//   teff::future<int> b = rt.submit([] { return fetch(2); }).then([](int x) { return 2 * x; });
//   use(b.get() + a.get());                         // in any order
//
// - Futures can be moved and stored, and waited for in any order, on any thread.
// - A waiting thread runs the awaited task itself if no worker has begun it. Else a waiting worker runs other
//   work meanwhile, and any other thread sleeps.
// - The destructor of a future neither blocks nor cancels: the submitted task runs all the same, and its
//   value or exception is lost. The runtime's shutdown waits for it.
// - when_all() and when_any() make one future of several; a coroutine can `co_await` one, and return one.
// - A promise gives a future its value from any thread.
// - A future costs one allocation.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/future/combined.hpp>
#include <teff/detail/future/coroutine.hpp>
#include <teff/detail/future/outcome.hpp>
#include <teff/detail/future/submitted.hpp>
#include <teff/detail/platform/ranges.hpp>
#include <teff/detail/private_access.hpp>
#include <teff/error.hpp>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace teff {

// The value, of type T, of something that may not have ended yet. Several threads may call ready() and wait()
// of one object at a time, while none calls anything else of it.
//
// A coroutine may return it. The coroutine begins on the thread that calls it; after it has awaited a future
// it goes on on a worker of that future's runtime.
//
//   teff::future<int> total(teff::runtime& rt, order o) {
//     auto priced = rt.submit([=] { return price(o); });
//     const int net = co_await priced;
//     co_return net + tax(net);
//   }
//
// In two steps: GCC 12 destroys twice what a closure holds that is made within the `co_await` expression.
template <class T>
class future {
 public:
  using promise_type = detail::coroutine_outcome<T>;

  // Of nothing: valid() is false.
  future() noexcept = default;

  // Whether there is something to wait for. Not after get(), then() and `co_await`, nor after a move. The
  // other functions throw misuse then.
  [[nodiscard]] bool valid() const noexcept { return outcome_ != nullptr; }

  // Whether the value, or the exception, is there: get() returns at once.
  [[nodiscard]] bool ready() const { return checked().ended(); }

  // Returns when ready(). A worker first runs what it waits for, if that has not begun; then other work. It
  // returns to this wait when that has ended. Any other thread may also run what it waits for, as a worker,
  // if that has not begun; else it sleeps. Throws future_waits_for_itself.
  void wait() const { checked().wait(); }

  // Returns when ready(), or after `most`, or at `deadline`; says whether ready(). It runs nothing meanwhile:
  // on a worker it is a call of blocking(). Throws std::bad_alloc.
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> most) const {
    return checked().wait_until(detail::deadline_after(most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool wait_until(std::chrono::time_point<Clock, Duration> deadline) const {
    const auto now = Clock::now();
    return deadline <= now ? ready() : wait_for(deadline - now);
  }

  // As wait(), then returns the value or throws the exception. Once.
  T get() {
    checked().wait();
    const auto mine = std::move(outcome_);
    return mine->take();
  }

  // Has a worker call f(value) when the value is there, or f() if T is void: as if it were submitted then.
  // The future of that has what f returns or throws. If this one has an exception, so does that one, and f is
  // not called. Throws runtime_was_shut_down, forked_process, std::bad_alloc, and what copying or moving f
  // throws; this one is as it was then.
  //
  // A future may belong to no runtime: that of a coroutine that awaited no future, or of when_all() of
  // nothing. Then the thread that has the value calls f at once.
  template <class F>
  auto then(F&& f) -> future<detail::result_of_then<std::decay_t<F>, T>> {
    using closure = std::decay_t<F>;
    using result = detail::result_of_then<closure, T>;
    static_cast<void>(checked());
    closure copy(std::forward<F>(f));
    auto* const made = new detail::chained<closure, T, result>(std::move(outcome_), std::move(copy));
    auto later = detail::future_of<result>(made);
    detail::undo_if_thrown([&] { made->start(); }, [&] { outcome_ = made->give_back(); });
    return later;
  }

  // The coroutine goes on, on a worker, when the value is there. `co_await` returns it or throws the
  // exception.
  auto operator co_await() {
    static_cast<void>(checked());
    return detail::awaited_outcome<T>(std::move(outcome_));
  }

 private:
  friend struct detail::private_access;
  explicit future(detail::outcome_owner<T> outcome) noexcept : outcome_(std::move(outcome)) {}
  [[nodiscard]] detail::outcome<T>* internals() const { return std::addressof(checked()); }
  [[nodiscard]] detail::outcome_owner<T> give_away() noexcept { return std::move(outcome_); }
  [[nodiscard]] detail::outcome<T>& checked() const {
    if (!valid()) detail::throw_error(misuse("teff::future: used, though it has no outcome (any more)"));
    return *outcome_.get();
  }

  detail::outcome_owner<T> outcome_;
};

// Gives a value to a future, from any thread: a callback of another library, an event loop.
//
//   teff::promise<answer> made;
//   teff::future<answer> later = made.get_future();
//   library.ask(question, [made = std::move(made)](answer a) mutable { made.set_value(std::move(a)); });
//
// The future belongs to no runtime: the thread that gives the value calls the closure given to then().
// If the promise ends without a value, the future throws broken_promise.
template <class T>
class promise {
 public:
  // Throws std::bad_alloc.
  promise() : outcome_(new detail::outcome<T>(nullptr, 2)), for_future_(outcome_.get()) {}
  promise(promise&&) noexcept = default;
  promise& operator=(promise&& other) noexcept {
    promise gone(std::move(other));
    std::swap(outcome_, gone.outcome_);
    std::swap(for_future_, gone.for_future_);
    return *this;
  }
  ~promise() {
    if (outcome_ != nullptr) give([this] { outcome_->fail(std::make_exception_ptr(broken_promise())); });
  }

  // Once; else throws misuse.
  [[nodiscard]] future<T> get_future() {
    if (for_future_ == nullptr)
      detail::throw_error(misuse("teff::promise: get_future() was called before: a promise has one future"));
    return detail::private_access::future_of<future<T>>(std::move(for_future_));
  }

  // Gives the value; for void, without an argument. If copying or moving it throws, the future has that
  // exception. Throws misuse if the future has a value or an exception already.
  template <class... Value>
    requires(std::is_void_v<T> ? sizeof...(Value) == 0
                               : sizeof...(Value) == 1 && (detail::gives<Value, T> && ...))
  void set_value(Value&&... value) {
    expect_none();
    give([&] { outcome_->store([&]() -> T { return (std::forward<Value>(value), ...); }); });
  }
  // Throws misuse, as set_value().
  void set_exception(std::exception_ptr error) {
    expect_none();
    if (error == nullptr)
      detail::throw_error(misuse("teff::promise: set_exception() was given no exception: nullptr"));
    give([&] { outcome_->fail(std::move(error)); });
  }

 private:
  void expect_none() const {
    if (outcome_ == nullptr)
      detail::throw_error(
          misuse("teff::promise: a value or an exception was set before, or it was moved from"));
  }
  template <class Store>
  void give(Store store) {
    store();
    const auto mine = std::move(outcome_);
    mine->end();  // after which the promise may be gone
  }

  detail::outcome_owner<T> outcome_;     // null: it has been given
  detail::outcome_owner<T> for_future_;  // null: the program has it
};

// A range of futures of one type.
template <class R>
concept range_of_futures =
    std::ranges::forward_range<R> &&
    std::same_as<std::ranges::range_value_t<R>,
                 future<decltype(std::declval<std::ranges::range_value_t<R>&>().get())>>;

// The value of when_all(): a tuple of the values, with std::monostate for void.
template <class... T>
using all_values = std::tuple<std::conditional_t<std::is_void_v<T>, std::monostate, T>...>;

// The future of all values, in order. When all are there and one has an exception, so does this: the first in
// order. The given futures are given away.
//
//   auto [user, orders] = teff::when_all(rt.submit(load_user), rt.submit(load_orders)).get();
template <class... T>
  requires(sizeof...(T) > 0)
future<all_values<T...>> when_all(future<T>... futures) {
  std::array inputs{detail::awaited_input(detail::private_access::internals(futures))...};
  const auto take = []<class U>(detail::outcome_owner<U>& each) -> decltype(auto) {
    if constexpr (std::is_void_v<U>) {
      return std::monostate{};
    } else {
      return each->take();
    }
  };
  const auto join = [take](auto& owners) {
    return std::apply([take](auto&... each) { return all_values<T...>(take(each)...); }, owners);
  };
  return detail::started<detail::all_outcomes<all_values<T...>, std::tuple<detail::outcome_owner<T>...>,
                                              decltype(inputs), std::remove_const_t<decltype(join)>>>(
      std::tuple(detail::private_access::give_away(futures)...), std::move(inputs), join);
}

// As above for a range of futures. The value is a vector; for futures of void, the result is a future of
// void.
template <range_of_futures R>
auto when_all(R&& futures) {
  using value = decltype(std::ranges::begin(futures)->get());
  using values = std::conditional_t<std::is_void_v<value>, void, std::vector<value>>;
  std::vector<detail::awaited_input> inputs;
  std::vector<detail::outcome_owner<value>> owners;
  for (auto& each : futures) inputs.emplace_back(detail::private_access::internals(each));
  owners.reserve(inputs.size());
  for (auto& each : futures) owners.push_back(detail::private_access::give_away(each));
  const auto join = [](auto& all) -> values {
    if constexpr (!std::is_void_v<values>) {
      values taken;
      taken.reserve(all.size());
      for (auto& each : all) taken.push_back(each->take());
      return taken;
    }
  };
  return detail::started<
      detail::all_outcomes<values, decltype(owners), decltype(inputs), std::remove_const_t<decltype(join)>>>(
      std::move(owners), std::move(inputs), join);
}

// The value of when_any(): all the given futures, and the index of the future that was ready first. The
// others may be waited for, or dropped.
template <class Futures>
struct first_ready {
  std::size_t index = 0;
  Futures futures;
};

// The future of the first that is ready, with a value or an exception. Cancels nothing.
//
//   auto [index, futures] = teff::when_any(rt.submit(ask_one), rt.submit(ask_other)).get();
template <class... T>
  requires(sizeof...(T) > 0)
future<first_ready<std::tuple<future<T>...>>> when_any(future<T>... futures) {
  using value = first_ready<std::tuple<future<T>...>>;
  std::array inputs{detail::awaited_input(detail::private_access::internals(futures))...};
  return detail::started<detail::any_outcome<value, decltype(inputs)>>(
      value{0, std::tuple(std::move(futures)...)}, std::move(inputs));
}

// As above for a range of futures, which must not be empty. The value has them as a vector. Throws misuse if
// it is.
template <range_of_futures R>
auto when_any(R&& futures) {
  using value = first_ready<std::vector<std::ranges::range_value_t<R>>>;
  std::vector<detail::awaited_input> inputs;
  for (auto& each : futures) inputs.emplace_back(detail::private_access::internals(each));
  if (inputs.empty()) detail::throw_error(misuse("teff::when_any: of no futures, none can be the first"));
  value all;
  all.futures.reserve(inputs.size());
  for (auto& each : futures) all.futures.push_back(std::move(each));
  return detail::started<detail::any_outcome<value, decltype(inputs)>>(std::move(all), std::move(inputs));
}

}  // namespace teff
