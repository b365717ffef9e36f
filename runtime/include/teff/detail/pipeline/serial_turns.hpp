// Whose turn it is at a serial stage, and the tokens that wait there for theirs.
//
// Protocol: src/pipeline/README.md, "Turns". tests/pipeline_model_test.cpp checks this very code.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace teff::detail {

// Tokens have turns by their numbers. The stage and the token meet in the slot of the number: whoever comes
// second takes the token on.
//
// `T` is what the stage is called with. `Worker` gives atomic<T> and plain<T>: std::atomic and T, or the
// checker's stand-ins.
template <class T, class Worker>
class serial_turns {
 public:
  // A token and its number in the pipeline.
  struct token {
    T value;
    std::uint64_t number;
  };

  serial_turns() = default;
  serial_turns(const serial_turns&) = delete;
  serial_turns& operator=(const serial_turns&) = delete;
  ~serial_turns() { drop_waiting(); }

  // ---- While nobody else is about, and no token waits ----

  // The first turn is that of `number`, and at most `most` numbers are under way at a time. Throws
  // std::bad_alloc.
  void begin(std::uint64_t number, std::uint64_t most) {
    if (slots_ == nullptr) {
      mask_ = std::bit_ceil(most) - 1;
      slots_ = std::make_unique<slot[]>(mask_ + 1);
    }
    next_ = number;
    arrived_.store(number, std::memory_order_relaxed);
    at(number).word.store(free, std::memory_order_relaxed);
  }
  // From here on no number has a turn, until begin().
  void end() noexcept {
    if (slots_ != nullptr) at(next_).word.store(nobody, std::memory_order_relaxed);
  }

  // ---- The holder of a token that has come to the stage ----

  // Turns in the order in which tokens arrive. Both orders: the token with this turn in the last round passed
  // the stage before one of those that arrived since began (README.md, "A slot is used again").
  [[nodiscard]] std::uint64_t next_arrival() noexcept {
    return arrived_.fetch_add(1, std::memory_order_acq_rel);
  }

  // Whether it is this number's turn. True: the stage is the caller's, until it calls leave().
  [[nodiscard]] bool enter(std::uint64_t number) noexcept {
    auto& own = at(number);
    // Acquire: pairs with the release in leave(): what the stage did before.
    if (own.word.load(std::memory_order_acquire) != free) return false;
    own.word.store(nobody, std::memory_order_relaxed);
    return true;
  }

  // After enter() said no. True: the token waits here, and whoever leaves the stage sees it. False: its turn
  // has come meanwhile; the caller goes on with take(). Throws what the move of the value throws.
  [[nodiscard]] bool park(std::uint64_t number, std::uint64_t of_token, T&& value) {
    auto& own = at(number);
    new (own.data) token{std::move(value), of_token};
    // Release: the token, to the acquire in leave(). Acquire: as in enter().
    return own.word.exchange(parked, std::memory_order_acq_rel) == nobody;
  }

  // ---- The holder of the stage ----

  // The stage has run. Returns whether the next token waits; then whoever calls take() has the stage.
  [[nodiscard]] bool leave() noexcept {
    auto& next = at(++next_);
    // Release: what the stage did, to the acquire in enter() or park(). Acquire: the token that is parked.
    if (next.word.exchange(free, std::memory_order_acq_rel) == nobody) return false;
    next.word.store(ready, std::memory_order_relaxed);
    return true;
  }

  // The token whose turn it is. Throws what the move of the value throws.
  [[nodiscard]] token take() {
    auto& own = at(next_);
    struct emptied {
      slot& own;
      ~emptied() {
        std::destroy_at(own.waiting());
        own.word.store(nobody, std::memory_order_relaxed);
      }
    } const after{own};
    return std::move(*own.waiting());
  }

  // Destroys the tokens that wait. Nobody else is about any more.
  void drop_waiting() noexcept {
    for (std::uint64_t i = 0; slots_ != nullptr && i <= mask_; ++i) {
      const auto word = slots_[i].word.load(std::memory_order_relaxed);
      if (word != parked && word != ready) continue;
      std::destroy_at(slots_[i].waiting());
      slots_[i].word.store(nobody, std::memory_order_relaxed);
    }
  }

 private:
  // The states of a slot: who has come to its number.
  static constexpr std::uint32_t nobody = 0;
  static constexpr std::uint32_t free = 1;    // the stage
  static constexpr std::uint32_t parked = 2;  // the token; or both, and the token came second
  static constexpr std::uint32_t ready = 3;   // both, and the stage came second

  struct slot {
    typename Worker::template atomic<std::uint32_t> word{nobody};
    alignas(token) std::byte data[sizeof(token)];

    token* waiting() noexcept { return std::launder(reinterpret_cast<token*>(data)); }
  };

  slot& at(std::uint64_t number) noexcept { return slots_[number & mask_]; }

  std::unique_ptr<slot[]> slots_;
  std::uint64_t mask_ = 0;
  // Whose turn it is, or comes when the stage is left. The stage's holder alone uses it.
  typename Worker::template plain<std::uint64_t> next_{0};
  alignas(64) typename Worker::template atomic<std::uint64_t> arrived_{0};  // of stages out of order
};

}  // namespace teff::detail
