// The state of a pipeline that its workers share, except the turns of its serial stages.
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

// A walk is a worker's part in the pipeline. The worker takes a serial stage that is ready, runs it on the
// token whose turn it is, and carries that token on. The source is the serial stage 0.
//
// `Worker` gives atomic<T>: std::atomic, or the checker's stand-in.
template <class Worker>
class pipeline_state {
 public:
  explicit pipeline_state(std::uint64_t tokens) noexcept : most_tokens_(tokens) {}

  [[nodiscard]] std::uint64_t most_tokens() const noexcept { return most_tokens_; }

  // ---- Stages that are ready ----

  static constexpr int none = -1;

  // No walk runs the stage, and its next token waits there.
  void make_ready(std::size_t stage) noexcept {
    // Release: pairs with the acquire in take_ready(), which sees what the stage did.
    ready_.fetch_or(bit(stage), std::memory_order_release);
  }
  [[nodiscard]] bool any_ready() const noexcept { return ready_.load(std::memory_order_relaxed) != 0; }

  // Takes the last stage that is ready, so that tokens leave before others come in. The caller holds it then.
  // Returns none if no stage is ready.
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

  // The holder of the source has made a token. Returns whether there is room for the next one. If not, the
  // source becomes ready when a token has left.
  [[nodiscard]] bool begin_token() noexcept {
    // Acquire: pairs with the release in end_token(), for slots that are used again. Release: pairs with the
    // acquire in end_token(), which sees what the source did.
    return live_.fetch_add(1, std::memory_order_acq_rel) + 1 < most_tokens_;
  }
  // A token has left the last stage. Returns whether the source waited for that. Then the caller makes it
  // ready.
  [[nodiscard]] bool end_token() noexcept {
    // Release, with what the token did, and acquire: both pair with begin_token().
    return live_.fetch_sub(1, std::memory_order_acq_rel) == most_tokens_;
  }

  // ---- Walks ----

  // Whether the calling walk is the only one, no token is under way, and the input has not ended. Then the
  // whole pipeline belongs to the caller until it calls offer().
  [[nodiscard]] bool is_alone() const noexcept {
    // Acquire: pairs with the release in quit() and end_walk(), so the caller sees all that other walks did.
    return walks_.load(std::memory_order_acquire) == 1 && live_.load(std::memory_order_relaxed) == 0 &&
           ready_.load(std::memory_order_relaxed) == bit(0);
  }
  void end_input_alone() noexcept { ready_.store(0, std::memory_order_relaxed); }
  // The walk that was alone has a token, and other walks may begin. The source is ready.
  void begin_sharing() noexcept { live_.store(1, std::memory_order_relaxed); }

  // The caller is about to spawn a walk. Returns false if there are enough.
  [[nodiscard]] bool offer() noexcept {
    if (walks_.load(std::memory_order_relaxed) >= std::min<std::uint64_t>(most_tokens_, most_walks))
      return false;
    // Relaxed: the spawn releases it. The addition stays in the release sequence that is_alone() reads.
    walks_.fetch_add(1, std::memory_order_relaxed);
    offered_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  // The calling walk was spawned, and begins.
  void accept() noexcept { offered_.fetch_sub(1, std::memory_order_relaxed); }
  // Whether only the caller walks; other walks may be on offer. A hint.
  [[nodiscard]] bool is_lonely() const noexcept {
    return walks_.load(std::memory_order_relaxed) == offered_.load(std::memory_order_relaxed) + 1;
  }

  // Ends the calling walk though there may be work. Returns false if it is the last one, which goes on.
  [[nodiscard]] bool quit() noexcept {
    auto walks = walks_.load(std::memory_order_relaxed);
    while (walks > 1) {
      // Release: pairs with the acquire in is_alone() and end_walk(), which see what the walk did and the
      // stages that it has made ready.
      if (walks_.compare_exchange_weak(walks, walks - 1, std::memory_order_release,
                                       std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  // Ends the calling walk, which found no stage ready. Returns false if it is the last one and a walk that
  // quit left a ready stage: then it goes on.
  [[nodiscard]] bool end_walk() noexcept {
    // Release: as in quit(). Acquire: pairs with quit().
    if (walks_.fetch_sub(1, std::memory_order_acq_rel) != 1 || failed() || !any_ready()) return true;
    walks_.store(1, std::memory_order_relaxed);
    return false;
  }

  // ---- Failure ----

  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  // Keeps the first exception. Relaxed: the caller of take_error() waits for the end of all walks.
  void fail(std::exception_ptr error) noexcept {
    if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::move(error);
  }
  // To be called when all walks have ended.
  [[nodiscard]] std::exception_ptr take_error() noexcept { return std::exchange(error_, nullptr); }

 private:
  // Enough for all cores of a machine, and few enough for a scope's part of the deque.
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
