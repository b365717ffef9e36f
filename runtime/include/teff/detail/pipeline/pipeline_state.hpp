// What the workers that carry a pipeline's tokens share, but for the turns of its serial stages.
//
// Protocol: src/pipeline/README.md. tests/pipeline_model_test.cpp checks this very code.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

namespace teff::detail {

// A walk is what one worker does: it takes a serial stage that is ready, runs it on the token whose turn it
// is, and carries that token on. The source is the serial stage 0.
//
// `Worker` gives atomic<T>: std::atomic, or the checker's stand-in.
template <class Worker>
class pipeline_state {
 public:
  explicit pipeline_state(std::uint64_t tokens) noexcept : most_tokens_(tokens) {}
  pipeline_state(const pipeline_state&) = delete;
  pipeline_state& operator=(const pipeline_state&) = delete;

  [[nodiscard]] std::uint64_t most_tokens() const noexcept { return most_tokens_; }

  // ---- Stages that are ready ----

  static constexpr int none = -1;

  // The stage is free, and its next token waits.
  void make_ready(std::size_t stage) noexcept {
    // Release: the stage, to the acquire in take_ready().
    ready_.fetch_or(bit(stage), std::memory_order_release);
  }
  [[nodiscard]] bool any_ready() const noexcept { return ready_.load(std::memory_order_relaxed) != 0; }

  // The last of them, so that tokens leave before others come in; it is the caller's. Or none.
  [[nodiscard]] int take_ready() noexcept {
    auto ready = ready_.load(std::memory_order_relaxed);
    while (ready != 0) {
      const int stage = 63 - std::countl_zero(ready);
      const auto own = bit(static_cast<std::size_t>(stage));
      // Acquire: pairs with make_ready().
      ready = ready_.fetch_and(~own, std::memory_order_acquire);
      if ((ready & own) != 0) return stage;
    }
    return none;
  }

  // ---- Tokens under way ----

  // The source's holder has made one. Returns whether there is room for the next; else the source is not
  // ready until a token has left.
  [[nodiscard]] bool begin_token() noexcept {
    // Acquire: pairs with end_token(), for slots that are used again. Release: the source, to whoever makes
    // room.
    return live_.fetch_add(1, std::memory_order_acq_rel) + 1 < most_tokens_;
  }
  // A token has left the last stage. Returns whether the source waited for that, and is the caller's.
  [[nodiscard]] bool end_token() noexcept {
    // Release: what the token did; acquire: the source. Both pair with begin_token().
    return live_.fetch_sub(1, std::memory_order_acq_rel) == most_tokens_;
  }

  // ---- Walks ----

  // Whether the calling walk is the only one and has no token, none waits, and the input has not ended. Then
  // all of the pipeline is the caller's until it calls offer().
  [[nodiscard]] bool is_alone() const noexcept {
    // Acquire: pairs with the release in quit() and end_walk(): all that other walks did.
    return walks_.load(std::memory_order_acquire) == 1 && live_.load(std::memory_order_relaxed) == 0 &&
           ready_.load(std::memory_order_relaxed) == bit(0);
  }
  void end_input_alone() noexcept { ready_.store(0, std::memory_order_relaxed); }
  // The walk that was alone has a token, and other walks may begin. The source is ready.
  void begin_sharing() noexcept { live_.store(1, std::memory_order_relaxed); }

  // Another walk is about to be spawned. False: there are enough.
  [[nodiscard]] bool offer() noexcept {
    if (walks_.load(std::memory_order_relaxed) >= std::min<std::uint64_t>(most_tokens_, most_walks))
      return false;
    // Relaxed: the spawn releases it, and it is part of the release sequences that is_alone() reads.
    walks_.fetch_add(1, std::memory_order_relaxed);
    offered_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  // The walk that was spawned begins.
  void accept() noexcept { offered_.fetch_sub(1, std::memory_order_relaxed); }
  // Whether nobody else walks, though other walks are on offer. A hint.
  [[nodiscard]] bool is_lonely() const noexcept {
    return walks_.load(std::memory_order_relaxed) == offered_.load(std::memory_order_relaxed) + 1;
  }

  // The calling walk ends though there may be work. False: it is the last, and goes on.
  [[nodiscard]] bool quit() noexcept {
    auto walks = walks_.load(std::memory_order_relaxed);
    while (walks > 1) {
      // Release: what the walk did, and the stages it has made ready, to is_alone() and end_walk().
      if (walks_.compare_exchange_weak(walks, walks - 1, std::memory_order_release,
                                       std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  // The calling walk found no stage ready. False: it is the last, and another one left something when it
  // quit: it goes on.
  [[nodiscard]] bool end_walk() noexcept {
    // Release: as quit(). Acquire: pairs with quit().
    if (walks_.fetch_sub(1, std::memory_order_acq_rel) != 1 || failed() || !any_ready()) return true;
    walks_.store(1, std::memory_order_relaxed);
    return false;
  }

  // ---- Failure ----

  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  // The first one is kept. Relaxed: its reader waits for the end of all walks.
  void fail(std::exception_ptr error) noexcept {
    if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::move(error);
  }
  // When all walks have ended.
  [[nodiscard]] std::exception_ptr take_error() noexcept { return std::exchange(error_, nullptr); }

 private:
  // So many that all cores of a machine have one, and few enough that they fit a scope's part of the deque.
  static constexpr unsigned most_walks = 128;

  static constexpr std::uint64_t bit(std::size_t stage) noexcept { return std::uint64_t{1} << stage; }

  const std::uint64_t most_tokens_;
  alignas(64) typename Worker::template atomic<std::uint64_t> ready_{bit(0)};
  typename Worker::template atomic<std::uint64_t> live_{0};
  alignas(64) typename Worker::template atomic<unsigned> walks_{1};
  typename Worker::template atomic<unsigned> offered_{0};
  typename Worker::template atomic<bool> failed_{false};
  std::exception_ptr error_;
};

}  // namespace teff::detail
