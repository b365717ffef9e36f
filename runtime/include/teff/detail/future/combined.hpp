// Outcomes of several futures together.
#pragma once

#include <teff/detail/future/outcome.hpp>
#include <teff/detail/future/submitted.hpp>
#include <teff/detail/scheduler/spin_lock.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <utility>

namespace teff::detail {

// An input of a combined outcome, which is told when the input is there.
struct awaited_input : continuation {
  explicit awaited_input(shared_outcome* of) noexcept : continuation{nullptr}, state(of) {}
  [[nodiscard]] bool is_lost() const noexcept { return state->is_lost(); }

  shared_outcome* state;
  void* combined = nullptr;
  std::size_t index = 0;
};

// The inputs as causes. `Inputs`: an array or a vector of them, in order.
template <class Inputs>
causes causes_of(const Inputs& inputs, bool one_suffices) {
  causes all{one_suffices, {}};
  for (const auto& each : inputs) all.each.push_back(each.state);
  for (auto* const each : all.each) each->hold();
  return all;
}

// Calls combined.arrived() for each input, at once or later; `combined` must not go before that.
template <class Combined, class Inputs>
void await_inputs(Combined& combined, Inputs& inputs) noexcept {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].combined = &combined;
    inputs[i].index = i;
    inputs[i].run = [](continuation& input) noexcept {
      const auto& me = static_cast<const awaited_input&>(input);
      static_cast<Combined*>(me.combined)->arrived(me.index);
    };
    if (!inputs[i].state->when_ended(inputs[i])) combined.arrived(i);
  }
}

// All values: `join(owners)` makes them of the outcomes when all are there.
template <class Values, class Owners, class Inputs, class Join>
class all_outcomes final : public outcome<Values> {
 public:
  all_outcomes(Owners owners, Inputs inputs, Join join)
      : outcome<Values>(inputs.empty() ? nullptr : inputs[0].state->runtime(), 2),
        owners_(std::move(owners)),
        inputs_(std::move(inputs)),
        join_(join),
        missing_(inputs_.size() + 1) {  // the last one: that all have been looked at
    if (std::ranges::any_of(inputs_, &awaited_input::is_lost)) this->be_lost();
  }

  void start() noexcept {
    await_inputs(*this, inputs_);
    arrived(0);
  }

  void help() noexcept override {
    for (const auto& each : inputs_) {
      if (!each.state->ended()) each.state->help();
    }
  }
  [[nodiscard]] const job* helps_with() const noexcept override {
    for (const auto& each : inputs_) {
      if (const auto* const first = each.state->helps_with()) return first;
    }
    return nullptr;
  }
  [[nodiscard]] causes made_of() override { return causes_of(inputs_, false); }

  void arrived(std::size_t /*index*/) noexcept {
    // Release, acquire: the values that the others brought.
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    this->store([this]() -> Values {
      for (const auto& each : inputs_) {
        if (each.state->failed()) std::rethrow_exception(each.state->take_error());
      }
      return join_(owners_);
    });
    this->end();
    this->release();
  }

 private:
  Owners owners_;
  Inputs inputs_;
  Join join_;
  std::atomic<std::size_t> missing_;
};

// The index of the first that is there, and all the futures. Inputs that come later still own this.
template <class Value, class Inputs>
class any_outcome final : public outcome<Value> {
 public:
  any_outcome(Value all, Inputs inputs)
      : outcome<Value>(inputs[0].state->runtime(), 2), all_(std::move(all)), inputs_(std::move(inputs)) {
    if (std::ranges::all_of(inputs_, &awaited_input::is_lost)) this->be_lost();
  }

  // The futures lie here until this returns, whichever is there.
  void start() noexcept {
    for (std::size_t i = 0; i < inputs_.size(); ++i) this->share();
    await_inputs(*this, inputs_);
    step();
  }

  // No help(): an input that waits for the waiting thread would lie on top of that, and keep it from going on
  // when another input comes.
  [[nodiscard]] causes made_of() override {
    const std::lock_guard lock(giving_away_);
    return given_away_ ? causes() : causes_of(inputs_, true);
  }

  void arrived(std::size_t index) noexcept {
    // Relaxed: step() orders it.
    if (!any_.exchange(true, std::memory_order_relaxed)) {
      all_.index = index;
      step();
    }
    this->release();
  }

 private:
  // Once when all inputs have been looked at, once when the first is there.
  void step() noexcept {
    // Release, acquire: `index`, and what that input brought.
    if (steps_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    {
      const std::lock_guard lock(giving_away_);
      given_away_ = true;
    }
    this->store([this]() -> Value { return std::move(all_); });
    this->end();
    this->release();
  }

  Value all_;
  Inputs inputs_;
  std::atomic<bool> any_{false};
  std::atomic<int> steps_{2};
  spin_lock giving_away_;  // of the futures, which made_of() may be looking at
  bool given_away_ = false;
};

// The future of such an outcome.
template <class Combined, class... Arguments>
auto started(Arguments&&... arguments) {
  auto* const made = new Combined(std::forward<Arguments>(arguments)...);
  auto later = future_of(made);
  made->start();
  return later;
}

}  // namespace teff::detail
