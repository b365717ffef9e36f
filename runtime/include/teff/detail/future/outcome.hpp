// The object that a future refers to: the value or the exception, once it is there, and what is to happen
// then.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/future/continuations.hpp>
#include <teff/detail/results.hpp>
#include <teff/detail/scheduler/made_of_others.hpp>
#include <teff/detail/scheduler/process.hpp>
#include <teff/detail/scheduler/requests.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <variant>

namespace teff::detail {

// So much later, or the end of time.
template <class Rep, class Period>
std::chrono::steady_clock::time_point deadline_after(std::chrono::duration<Rep, Period> most) {
  using clock = std::chrono::steady_clock;
  using seconds = std::chrono::duration<double>;  // in which no duration overflows
  const auto now = clock::now();
  if (most <= most.zero()) return now;
  if (seconds(most) >= seconds(clock::time_point::max() - now)) return clock::time_point::max();
  return now + std::chrono::ceil<clock::duration>(most);
}

// The part that does not depend on the type of the value. Owned by its future and by what makes the value.
class shared_outcome : public made_of_others {
 public:
  [[nodiscard]] bool ended() const noexcept { return then_.is_released(); }
  // Has `then` called when the outcome is there. False: it is there already, and nothing has been done.
  [[nodiscard]] bool when_ended(continuation& then) noexcept { return then_.add(then); }
  // Runs other work on a worker, else sleeps, until the outcome is there. Throws future_waits_for_itself,
  // forked_process.
  void wait();
  // Sleeps until the outcome is there, or until `deadline`: on a worker as blocking() does. Returns whether
  // the outcome is there. It throws forked_process, std::bad_alloc, and what blocking() throws.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point deadline);
  // Whether it is not there, and a process of which this is a child by fork() has what was to bring it.
  [[nodiscard]] bool is_lost() const noexcept { return brought_in_ != this_process() && !ended(); }
  // Throws forked_process if it is lost.
  void expect_not_lost() const;
  // Does here what brings the outcome, if that is a request that has not begun, and the caller waits for it.
  virtual void help() noexcept {}
  // The request that help() would probably run first on a worker; null: none.
  [[nodiscard]] virtual const job* helps_with() const noexcept { return nullptr; }
  [[nodiscard]] bool is_there() const noexcept final { return ended(); }
  [[nodiscard]] causes made_of() override { return {}; }
  void hold() noexcept final { share(); }
  void drop() noexcept final { release(); }

  // The value or the exception has been stored; the maker still owns it. In a child process that its task has
  // forked, where nobody waits for it, that process ends.
  void end() noexcept {
    if (brought_in_ != this_process()) [[unlikely]]
      end_child_process();
    then_.end();
  }
  // An owner lets go of it.
  void release() noexcept {
    // Release, acquire: the last accesses of the owners, before the last of them destroys it. A sole owner
    // stays it: only an owner makes another.
    if (owners_.load(std::memory_order_acquire) == 1 || owners_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      dispose();
  }
  // One more owner, besides the caller.
  void share() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }

  // Where what follows is to run; null: nowhere in particular.
  [[nodiscard]] scheduler* runtime() const noexcept { return runtime_.load(std::memory_order_relaxed); }
  // It had none.
  void adopt(scheduler* runtime) noexcept {
    scheduler* none = nullptr;
    if (runtime_.compare_exchange_strong(none, runtime, std::memory_order_relaxed)) come_along();
  }
  // It is brought in this process, wherever it was made. Written in a child process of fork() only: other
  // threads that have to do with it are not there.
  void come_along() noexcept {
    if (brought_in_ != this_process()) [[unlikely]]
      brought_in_ = this_process();
  }
  void fail(std::exception_ptr error) noexcept { error_ = std::move(error); }
  [[nodiscard]] bool failed() const noexcept { return error_ != nullptr; }
  // Once. The taker destroys it: the maker may let go of the outcome later, and a user's ThreadSanitizer
  // does not see how owners of an exception count themselves.
  [[nodiscard]] std::exception_ptr take_error() noexcept { return std::exchange(error_, nullptr); }

 protected:
  shared_outcome(scheduler* runtime, unsigned owners) noexcept
      : owners_(owners), brought_in_(this_process()), runtime_(runtime) {}
  // The outcomes that it is made of are lost, and so is this.
  void be_lost() noexcept { brought_in_ = this_process() - 1; }
  virtual ~shared_outcome();
  virtual void dispose() noexcept { delete this; }

 private:
  struct timed_waits;

  [[nodiscard]] timed_waits& waits_for_a_time();

  continuation_stack<> then_;
  std::atomic<unsigned> owners_;
  unsigned brought_in_;  // in which process, as this_process() counts them
  std::atomic<scheduler*> runtime_;
  std::exception_ptr error_;                  // written before end()
  std::atomic<timed_waits*> timed_{nullptr};  // made by the first
};

template <class T>
class outcome : public shared_outcome {
 public:
  outcome(scheduler* runtime, unsigned owners) noexcept : shared_outcome(runtime, owners) {}

  // Stores what make() returns, or throws.
  template <class Make>
  void store(Make make) noexcept {
    catch_all(
        [&] {
          ::new (static_cast<void*>(std::addressof(value_))) kept(kept_value_of<Make>(make));
          has_value_ = true;
        },
        [this] { fail(std::current_exception()); });
  }

  // After it has ended, once: returns the value or throws the exception.
  T take() {
    if (failed()) std::rethrow_exception(take_error());
    if constexpr (std::is_reference_v<T>) {
      return static_cast<T>(*value_);
    } else if constexpr (!std::is_void_v<T>) {
      return std::move(value_);
    }
  }

 protected:
  ~outcome() override {
    if (has_value_) std::destroy_at(std::addressof(value_));
  }

 private:
  using kept = std::conditional_t<std::is_void_v<T>, std::monostate, kept_t<T>>;

  union {
    kept value_;
  };
  bool has_value_ = false;
};

// Whether the value of a promise, of type T, may come from an expression of type Value&&. A constant
// reference binds to a temporary, which would be gone: so the expression is an lvalue of the type, or refers
// to one.
template <class Value, class T>
inline constexpr bool gives = std::is_convertible_v<Value&&, T>;
template <class Value, class T>
inline constexpr bool gives<Value, const T&> =
    std::is_convertible_v<Value&&, T&> ||
    (std::is_lvalue_reference_v<Value&&> && std::is_convertible_v<std::remove_reference_t<Value>*, const T*>);

// Owns an outcome.
struct outcome_release {
  void operator()(shared_outcome* owned) const noexcept { owned->release(); }
};
template <class T>
using outcome_owner = std::unique_ptr<outcome<T>, outcome_release>;

}  // namespace teff::detail
