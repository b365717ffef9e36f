// Closures whose value a future has: submitted to a runtime, or to be called with the value of another
// future.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/future/outcome.hpp>
#include <teff/detail/private_access.hpp>
#include <teff/detail/scheduler/made_of_others.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/error.hpp>

#include <atomic>
#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace teff {
template <class T>
class future;
}  // namespace teff

namespace teff::detail {

// The future of an outcome that the caller has made.
template <class T>
future<T> future_of(outcome<T>* owned) noexcept {
  return private_access::future_of<future<T>>(outcome_owner<T>(owned));
}

// A request that makes its outcome.
template <class F, class T>
class submitted final : public outcome<T>, job {
 public:
  submitted(scheduler& runtime, F&& f)
      : outcome<T>(&runtime, 2), job{&run_from_queue}, function_(std::move(f)) {}

  // From now on it is also the queue's.
  void submit() noexcept { submit_request(*this->runtime(), *this); }

  void help() noexcept override {
    if (!has_room_for_awaited(this->runtime()) || !begin()) return;
    auto& runtime = *this->runtime();
    if (withdraw_request(runtime, *this)) this->release();  // as the queue
    execute();
    end_call(runtime);
  }
  [[nodiscard]] const job* helps_with() const noexcept override {
    return begun_.load(std::memory_order_relaxed) ? nullptr : this;
  }

 private:
  // One thread runs it: the worker that took it from the queue, or the thread that waits for it. Relaxed:
  // both have it through the queue's lock or from the future.
  [[nodiscard]] bool begin() noexcept { return !begun_.exchange(true, std::memory_order_relaxed); }
  static void run_from_queue(job& this_job) noexcept {
    auto& me = static_cast<submitted&>(this_job);
    if (me.begin()) {
      auto& runtime = *me.runtime();
      me.execute();
      end_call(runtime);
    }
    me.release();
  }
  void execute() noexcept {
    run_as_activity(static_cast<shared_outcome*>(this), [this] { call(); });
  }
  void call() noexcept {
    {
      const traced_span span(event_kind::run, name_of<F>());
      this->store([this]() -> T { return std::invoke(std::move(*function_)); });
      function_.reset();
    }
    this->end();
  }

  std::atomic<bool> begun_{false};
  std::optional<F> function_;  // until it has been called
};

template <class F, class T = std::invoke_result_t<F>>
future<T> submitted_to(scheduler& runtime, F f) {
  auto* const made = new submitted<F, T>(runtime, std::move(f));
  auto later = future_of<T>(made);
  undo_if_thrown([&] { begin_call(runtime); }, [&] { made->release(); });  // as the queue
  made->submit();
  return later;
}

// std::stop_token, or a type like it. The header <stop_token>, which a program includes if it has one, takes
// a twentieth of the time that a small file takes to compile.
template <class T>
concept stop_token = std::copyable<T> && requires(const T& token) {
  { token.stop_requested() } -> std::same_as<bool>;
  { token.stop_possible() } -> std::same_as<bool>;
};

// A closure that is not called if stop was requested.
template <class Token, class F>
using stoppable_result =
    typename std::conditional_t<std::is_invocable_v<F, Token>, std::invoke_result<F, Token>,
                                std::invoke_result<F>>::type;
template <class Token, class F>
struct stoppable {
  template <class G>
  stoppable(Token stop, G&& f) : token(std::move(stop)), function(std::forward<G>(f)) {}
  stoppable_result<Token, F> operator()() && {
    if (token.stop_requested()) throw_error(request_stopped());
    if constexpr (std::is_invocable_v<F, Token>) {
      return std::invoke(std::move(function), std::move(token));
    } else {
      return std::invoke(std::move(function));
    }
  }
  static const char* task_name() noexcept { return name_of<F>(); }
  Token token;
  F function;
};

// The result of a closure that is called with a value of type T, or with nothing for void.
template <class F, class T>
using result_of_then =
    typename std::conditional_t<std::is_void_v<T>, std::invoke_result<F>, std::invoke_result<F, T>>::type;

// A closure that is called with the value of another outcome, once that is there.
template <class F, class T, class U>
class chained final : public outcome<U>, continuation, job {
 public:
  chained(outcome_owner<T> earlier, F&& f)
      : outcome<U>(earlier->runtime(), 2),
        continuation{[](continuation& this_one) noexcept { static_cast<chained&>(this_one).follow(); }},
        job{[](job& this_job) noexcept { static_cast<chained&>(this_job).execute(); }},
        previous_(std::move(earlier)),
        function_(std::move(f)) {
    made_of_.begin(*previous_.get());
  }

  // Throws runtime_was_shut_down, forked_process; then only the caller owns it.
  void start() {
    undo_if_thrown(
        [this] {
          previous_->expect_not_lost();
          if (this->runtime() != nullptr) begin_call_if_alive(*this->runtime());
        },
        [this] { this->release(); });
    if (!previous_->when_ended(*this)) follow();
  }

  // After start() has thrown: the outcome that it was to follow.
  [[nodiscard]] outcome_owner<T> give_back() noexcept {
    made_of_.end();
    return std::move(previous_);
  }

  [[nodiscard]] causes made_of() override { return made_of_.get(); }

 private:
  void follow() noexcept {
    if (this->runtime() != nullptr) {
      submit_request(*this->runtime(), *this);
    } else {
      execute();
    }
  }
  void execute() noexcept {
    run_as_activity(static_cast<shared_outcome*>(this), [this] { call(); });
    this->release();
  }
  void call() noexcept {
    auto* const runtime = this->runtime();
    if (previous_->failed()) {
      this->fail(previous_->take_error());
    } else {
      const traced_span span(event_kind::run, name_of<F>());
      this->store([this]() -> U {
        if constexpr (std::is_void_v<T>) {
          return std::invoke(std::move(*function_));
        } else {
          return std::invoke(std::move(*function_), previous_->take());
        }
      });
    }
    function_.reset();
    made_of_.end();
    previous_.reset();
    this->end();
    if (runtime != nullptr) end_call(*runtime);
  }

  outcome_owner<T> previous_;
  only_cause made_of_;         // while it has `previous_`
  std::optional<F> function_;  // until it has been called
};

}  // namespace teff::detail
