// The turns at a serial stage, and the tokens that wait there for their turn.
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

// Tokens have turns by their numbers. The stage and the token meet in the slot of the number. The walk that
// comes there second takes the token on.
//
// `T` is the type of the stage's argument. `Worker` gives atomic<T> and plain<T>: std::atomic and T, or the
// checker's stand-ins.
template <class T, class Worker>
class serial_turns {
 public:
  // A token and its number in the pipeline.
  struct token {
    T value;
    std::uint64_t number;
  };

  // Destroys the tokens that wait.
  ~serial_turns() {
    for (std::uint64_t i = 0; slots_ != nullptr && i <= mask_; ++i) {
      const auto word = slots_[i].word.load(std::memory_order_relaxed);
      if (word == parked || word == ready) std::destroy_at(slots_[i].waiting());
    }
  }

  // ---- The only walk, while no token waits ----

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
  // Until begin() is called again, no number has a turn.
  void end() noexcept {
    if (slots_ != nullptr) at(next_).word.store(nobody, std::memory_order_relaxed);
  }

  // ---- The holder of a token that has come to the stage ----

  // Draws the number of a token that arrives at a stage out of order. Acquire and release pair with earlier
  // and later draws: the slot may be used again (README.md, "A slot is used again").
  [[nodiscard]] std::uint64_t next_arrival() noexcept {
    return arrived_.fetch_add(1, std::memory_order_acq_rel);
  }

  // Whether it is this number's turn. If so, the caller holds the stage until it calls leave().
  [[nodiscard]] bool enter(std::uint64_t number) noexcept {
    auto& own = at(number);
    // Acquire: pairs with the release in leave(), so the caller sees what the stage did before.
    if (own.word.load(std::memory_order_acquire) != free) return false;
    own.word.store(nobody, std::memory_order_relaxed);
    return true;
  }

  // To be called if enter() returned false: leaves the token here. Returns true if the token waits. Then the
  // walk that leaves the stage sees it. Returns false if the token's turn has come meanwhile. Then the caller
  // goes on with take(). Throws what the move of the value throws.
  [[nodiscard]] bool park(std::uint64_t number, std::uint64_t of_token, T&& value) {
    auto& own = at(number);
    new (own.data) token{std::move(value), of_token};
    // Release: pairs with the acquire in leave(), which sees the token. Acquire: as in enter().
    return own.word.exchange(parked, std::memory_order_acq_rel) == nobody;
  }

  // ---- The holder of the stage ----

  // The stage has run. Returns whether the next token waits. Then the next caller of take() holds the stage.
  [[nodiscard]] bool leave() noexcept {
    auto& next = at(++next_);
    // Release: pairs with the acquire in enter() and park(), which see what the stage did. Acquire: pairs
    // with the release in park(), for the token.
    if (next.word.exchange(free, std::memory_order_acq_rel) == nobody) return false;
    next.word.store(ready, std::memory_order_relaxed);
    return true;
  }

  // Takes the token whose turn it is out of its slot. Throws what the move of the value throws.
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

 private:
  // The states of a slot: which of the stage and the token have come to its number.
  static constexpr std::uint32_t nobody = 0;
  static constexpr std::uint32_t free = 1;    // the stage
  static constexpr std::uint32_t parked = 2;  // the token, or both, with the token second
  static constexpr std::uint32_t ready = 3;   // both, with the stage second

  struct slot {
    typename Worker::template atomic<std::uint32_t> word{nobody};
    alignas(token) std::byte data[sizeof(token)];

    token* waiting() noexcept { return std::launder(reinterpret_cast<token*>(data)); }
  };

  slot& at(std::uint64_t number) noexcept { return slots_[number & mask_]; }

  std::unique_ptr<slot[]> slots_;
  std::uint64_t mask_ = 0;
  // The number whose turn it is, or becomes it when the holder leaves the stage. Only the holder uses it.
  typename Worker::template plain<std::uint64_t> next_{0};
  alignas(64) typename Worker::template atomic<std::uint64_t> arrived_{0};  // of stages out of order
};

}  // namespace teff::detail
