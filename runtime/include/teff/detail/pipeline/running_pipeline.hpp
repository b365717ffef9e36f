// A pipeline in progress: how workers carry tokens through its stages.
//
// Protocol: src/pipeline/README.md. tests/pipeline_model_test.cpp checks this very code.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/pipeline/pipeline_state.hpp>
#include <teff/detail/pipeline/serial_turns.hpp>
#include <teff/detail/pipeline/stage.hpp>
#include <teff/detail/pipeline/token_pace.hpp>
#include <teff/detail/platform/relax.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/scope.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace teff::detail {

// The services of the calling worker that a pipeline uses.
struct pipeline_worker {
  template <class T>
  using atomic = std::atomic<T>;
  template <class T>
  using plain = T;
  using walks = scope;  // holds the further walks
  using clock = processor_clock;
  static constexpr unsigned stages_between_looks = 32;
  static constexpr unsigned looks_before_end = 64;
  static constexpr int tokens_between_looks = 64;

  // Whether another worker wants a share. False on a thread that is no worker.
  static bool asked() noexcept { return self.asked() && self.asked_to_share() && self.head() != nullptr; }
  // Whether there is no other worker.
  static bool is_alone() noexcept { return self.is_alone; }
  // To be called if asked() was true: runs a request that waits.
  static void look_outside() noexcept { detail::look_outside(); }
  // Between two looks at the same word.
  static void relax() noexcept { detail::relax(); }
};

// The worker that calls run() carries token after token by itself. When another worker asks for a share, and
// tokens take long enough, the other worker walks, too.
//
// `Worker`: pipeline_worker, or the checker's stand-in.
template <class Worker, class... Stages>
class running_pipeline {
  static constexpr std::size_t count = sizeof...(Stages);
  static constexpr std::size_t last = count - 1;

  template <std::size_t Index>
  using stage = std::tuple_element_t<Index, std::tuple<Stages...>>;
  template <std::size_t Index>
  using argument = typename stage_argument<Index, Stages...>::type;

 public:
  running_pipeline(std::size_t tokens, Stages&... stages) noexcept : state_(tokens), stages_(stages...) {}

  // Returns when all tokens have left. Throws the first exception of a stage.
  void run() {
    walk();
    walks_.wait();
    if (auto error = state_.take_error()) std::rethrow_exception(std::move(error));
  }

 private:
  // The pace of a walk that is not alone.
  using walk_pace = shared_pace<typename Worker::clock>;

  void walk() noexcept {
    walk_pace pace(count, Worker::stages_between_looks);
    catch_all(
        [&] {
          do {
            while (step(pace)) {
              if (pace.leaves([this] { return state_.is_lonely(); }) && state_.quit()) return;
            }
          } while (!state_.end_walk());
        },
        [this] { state_.fail(std::current_exception()); });
  }

  // Does some of the pipeline's work. Returns false if it found no work.
  bool step(walk_pace& pace) {
    if (state_.failed()) return false;
    if (state_.is_alone()) {
      run_alone(pace);
      return true;
    }
    if (Worker::asked()) [[unlikely]]
      Worker::look_outside();  // before the walk holds a stage
    const int found = state_.take_ready();
    if (found == state_.none) return finds_something_soon();
    share_if_asked();
    each_stage([&]<std::size_t Index>() {
      if (static_cast<std::size_t>(found) == Index) resume<Index>(pace);
    });
    return true;
  }

  // While other workers walk, the next stage is often ready in a moment. A new walk would cost more than
  // these looks: another worker would have to offer it, and this worker to steal it.
  bool finds_something_soon() const noexcept {
    for (unsigned look = 0; look < Worker::looks_before_end && !state_.is_lonely(); ++look) {
      if (state_.any_ready()) return true;
      Worker::relax();
    }
    return false;
  }

  // The calling walk holds this serial stage: runs it on its next token, and carries the token on. The source
  // makes that token.
  template <std::size_t Index>
  void resume(walk_pace& pace) {
    if constexpr (Index == 0) {
      pace.ran_stage();
      auto made = call<0>();
      if (!made) return;  // the source never becomes ready again
      const std::uint64_t number = made_;
      made_ = number + 1;
      if (state_.begin_token()) state_.make_ready(0);
      carry<1>(*std::move(made), number, pace);
    } else if constexpr (is_serial<Index>) {
      auto next = turns<Index>().take();
      run_stage<Index>(std::move(next.value), next.number, pace);
    }
  }

  // ---- Beside other walks ----

  template <std::size_t Index>
  void carry(argument<Index>&& value, std::uint64_t number, walk_pace& pace) {
    if (state_.failed()) return;
    share_if_asked();
    if (Worker::asked()) [[unlikely]]
      Worker::look_outside();
    if constexpr (is_serial<Index>) {
      auto& own = turns<Index>();
      const auto turn = stage<Index>::mode == stage_mode::serial ? number : own.next_arrival();
      if (!own.enter(turn)) {
        if (!own.park(turn, number, std::move(value))) resume<Index>(pace);
        return;
      }
    }
    run_stage<Index>(std::move(value), number, pace);
  }

  // If the stage is serial, the calling walk holds it.
  template <std::size_t Index>
  void run_stage(argument<Index>&& value, std::uint64_t number, walk_pace& pace) {
    pace.ran_stage();
    if constexpr (Index == last) {
      call<Index>(std::move(value));
      leave<Index>();
      if (state_.end_token()) state_.make_ready(0);
    } else {
      argument<Index + 1> made = call<Index>(std::move(value));
      leave<Index>();
      carry<Index + 1>(std::move(made), number, pace);
    }
  }

  template <std::size_t Index>
  void leave() noexcept {
    if constexpr (is_serial<Index>)
      if (turns<Index>().leave()) state_.make_ready(Index);
  }

  // Offers a walk if another worker asks and a stage is ready that this worker does not run just now.
  void share_if_asked() {
    if (Worker::asked() && state_.any_ready()) [[unlikely]]
      offer_walk();
  }

  [[gnu::cold, gnu::noinline]] void offer_walk() {
    if (!state_.offer()) return;
    walks_.spawn(as_part_of<typename stage<0>::function_type>([this] {
      state_.accept();
      walk();
    }));
  }

  // ---- Alone ----

  // Carries token after token, until the input has ended or the walk begins to share.
  void run_alone(walk_pace& pace) {
    each_stage([&]<std::size_t Index>() {
      if constexpr (has_turns<Index>) turns<Index>().end();
    });
    // With one token under way, or one worker, the walk never shares. It looks for requests after each token,
    // which may be long.
    const bool shares = state_.most_tokens() > 1 && !Worker::is_alone();
    const int most = shares ? Worker::tokens_between_looks : 1;
    while (run_tokens_alone(most, pace)) {
      if (Worker::asked()) [[unlikely]]
        Worker::look_outside();
    }
  }

  // Carries `most` tokens at most. Returns false if the walk is not to go on alone. It is not inline and
  // does not call look_outside(), so the compiler keeps its variables in registers.
  [[gnu::noinline]] bool run_tokens_alone(int most, walk_pace& pace) {
    lone_pace<typename Worker::clock> lone;
    for (int left = most; left != 0; --left) {
      auto made = call<0>();
      if (!made) {
        state_.end_input_alone();
        return false;
      }
      if (!carry_alone<1>(*std::move(made), lone, pace)) return false;
      lone.ended_token();
    }
    return true;
  }

  // Returns false if the walk shares from now on.
  template <std::size_t Index, class Lone>
  bool carry_alone(argument<Index>&& value, Lone& lone, walk_pace& pace) {
    if (Worker::asked() && !Worker::is_alone() && state_.most_tokens() > 1 && lone.worth_sharing())
        [[unlikely]] {
      begin_sharing<Index>();
      pace.restart();
      carry<Index>(std::move(value), 0, pace);
      return false;
    }
    if constexpr (Index == last) {
      call<Index>(std::move(value));
      return true;
    } else {
      return carry_alone<Index + 1>(call<Index>(std::move(value)), lone, pace);
    }
  }

  // The token in the walk's hands has come to stage `Come`. It gets the number 0.
  template <std::size_t Come>
  [[gnu::cold, gnu::noinline]] void begin_sharing() {
    each_stage([&]<std::size_t Index>() {
      if constexpr (has_turns<Index>) turns<Index>().begin(Index < Come ? 1 : 0, state_.most_tokens());
    });
    made_ = 1;
    state_.begin_sharing();
  }

  // ---- Stages ----

  // Calls visit<Index>() for each stage.
  template <class Visit>
  static void each_stage(const Visit& visit) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      (visit.template operator()<Index>(), ...);
    }(std::make_index_sequence<count>{});
  }
  template <std::size_t Index>
  static constexpr bool is_serial = stage<Index>::mode != stage_mode::parallel;
  // The source has no turns: its bit of `ready` gives it one holder at a time.
  template <std::size_t Index>
  static constexpr bool has_turns = Index > 0 && is_serial<Index>;

  template <std::size_t Index, bool HasTurns>
  struct turns_of {};
  template <std::size_t Index>
  struct turns_of<Index, true> : serial_turns<argument<Index>, Worker> {};

  template <class Indices>
  struct all_turns;
  template <std::size_t... Index>
  struct all_turns<std::index_sequence<Index...>> : turns_of<Index, has_turns<Index>>... {};

  template <std::size_t Index>
  turns_of<Index, true>& turns() noexcept {
    return turns_;
  }

  template <std::size_t Index, class... Value>
  auto call(Value&&... value) {
    auto& function = std::get<Index>(stages_).function;
    if constexpr (is_serial<Index>) {
      return call_function(function, std::forward<Value>(value)...);
    } else {
      return call_function(std::as_const(function), std::forward<Value>(value)...);
    }
  }
  // `value` is passed by value, so it is destroyed when the stage has run.
  template <class F, class... Value>
  static auto call_function(F& function, Value... value) {
    if (ring_here() != nullptr) [[unlikely]]
      return call_traced(function, std::move(value)...);
    return std::invoke(function, std::move(value)...);
  }
  template <class F, class... Value>
  [[gnu::noinline]] static auto call_traced(F& function, Value... value) {
    record_spawn(*ring_here());
    const traced_span span(event_kind::task, name_of<std::remove_const_t<F>>());
    return std::invoke(function, std::move(value)...);
  }

  pipeline_state<Worker> state_;
  std::tuple<Stages&...> stages_;
  std::uint64_t made_ = 0;  // tokens; only the holder of the source uses it
  all_turns<std::make_index_sequence<count>> turns_;
  typename Worker::walks walks_;
};

}  // namespace teff::detail
