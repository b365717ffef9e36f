// Coroutines that await futures, and that return one.
#pragma once

#include <teff/detail/future/outcome.hpp>
#include <teff/detail/future/submitted.hpp>
#include <teff/detail/scheduler/made_of_others.hpp>

#include <concepts>
#include <coroutine>
#include <exception>
#include <utility>

namespace teff::detail {

// `co_await` of a future. It lies in the coroutine's frame.
template <class T>
class awaited_outcome : continuation, job {
 public:
  explicit awaited_outcome(outcome_owner<T> awaited) noexcept
      : continuation{[](continuation& this_one) noexcept {
          static_cast<awaited_outcome&>(this_one).follow();
        }},
        job{[](job& this_job) noexcept { static_cast<awaited_outcome&>(this_job).resume(); }},
        awaited_(std::move(awaited)) {}
  awaited_outcome(const awaited_outcome&) = delete;
  awaited_outcome& operator=(const awaited_outcome&) = delete;

  // A coroutine that is on no worker goes to one, though it need not wait.
  [[nodiscard]] bool await_ready() const noexcept {
    return awaited_->ended() && (awaited_->runtime() == nullptr || this_worker().runtime != nullptr);
  }

  // Throws runtime_was_shut_down, forked_process.
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> coroutine) {
    awaited_->expect_not_lost();
    coroutine_ = coroutine;
    activity_ = coroutine.address();
    runtime_ = awaited_->runtime();
    if (runtime_ == nullptr) runtime_ = this_worker().runtime;
    if constexpr (std::derived_from<Promise, shared_outcome>) {
      shared_outcome& brings = coroutine.promise();
      brings.adopt(runtime_);
      activity_ = &brings;
    }
    if (runtime_ != nullptr) begin_call_if_alive(*runtime_);
    if constexpr (requires { coroutine.promise().suspended_for(); }) {
      suspended_for_ = &coroutine.promise().suspended_for();
      suspended_for_->begin(*awaited_.get());
    }
    // From here on the coroutine may go on elsewhere, and this be gone.
    if (!awaited_->when_ended(*this)) follow();
  }

  T await_resume() {
    if (suspended_for_ != nullptr) suspended_for_->end();
    return awaited_->take();
  }

 private:
  void follow() noexcept {
    if (runtime_ != nullptr) {
      submit_request(*runtime_, *this);
    } else {
      coroutine_.resume();
    }
  }
  void resume() noexcept {
    auto* const runtime = runtime_;
    const auto from = this_process();
    run_as_activity(activity_, [coroutine = coroutine_] { coroutine.resume(); });
    if (from != this_process()) [[unlikely]]
      end_child_process();
    end_call(*runtime);
  }

  outcome_owner<T> awaited_;
  std::coroutine_handle<> coroutine_;
  const void* activity_ = nullptr;
  scheduler* runtime_ = nullptr;
  only_cause* suspended_for_ = nullptr;  // of a coroutine that makes an outcome
};

// The value that a coroutine returns goes to its future.
template <class T>
class coroutine_value : public outcome<T> {
 public:
  template <class U = T>
    requires std::convertible_to<U&&, T>
  void return_value(U&& value) noexcept {
    this->store([&]() -> T { return std::forward<U>(value); });
  }

 protected:
  using outcome<T>::outcome;
};
template <>
class coroutine_value<void> : public outcome<void> {
 public:
  void return_void() noexcept {
    store([] {});
  }

 protected:
  using outcome<void>::outcome;
};

// The promise of a coroutine that returns a future: its outcome, in the coroutine's frame. The coroutine owns
// it until it has ended, and the future.
template <class T>
class coroutine_outcome final : public coroutine_value<T> {
  using handle = std::coroutine_handle<coroutine_outcome>;

 public:
  coroutine_outcome() noexcept : coroutine_value<T>(nullptr, 2) {}
  ~coroutine_outcome() override = default;

  future<T> get_return_object() noexcept { return future_of<T>(this); }
  [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
  [[nodiscard]] auto final_suspend() const noexcept {
    struct last_step {
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(handle ended) const noexcept {
        auto& me = ended.promise();
        if (me.runtime() == nullptr) me.come_along();  // it ran within its caller, which is here
        me.end();
        me.release();
      }
      void await_resume() const noexcept {}
    };
    return last_step{};
  }
  void unhandled_exception() noexcept { this->fail(std::current_exception()); }

  // The future that the coroutine awaits, while it is suspended.
  [[nodiscard]] only_cause& suspended_for() noexcept { return suspended_for_; }
  [[nodiscard]] causes made_of() override { return suspended_for_.get(); }

 private:
  void dispose() noexcept override { handle::from_promise(*this).destroy(); }

  only_cause suspended_for_;
};

}  // namespace teff::detail
