// A work-stealing deque with a private and a public part, after Lace (van Dijk & van de Pol, 2014), and with
// a way to steal from the private part too.
//
// Protocol, invariants and the proof sketch: src/scheduler/deque.md. tests/deque_model_test.cpp
// checks this very code on the interleavings of small programs.
#pragma once

#include <atomic>
#include <cstdint>

namespace teff::detail {

// Slots lie in one array that never moves. The owner pushes and takes at its head, thieves steal at its tail:
//
//     0 ... stolen ... tail ... public ... split ... private ... head ... free
//
// Public slots are taken by exchanging one word, `bounds`. The owner takes private ones without any exchange,
// unless a thief calls expose(), which makes private slots public without the owner's doing.
//
// `Slot` is what is queued; `Atomic` is std::atomic, or the checker's stand-in.
template <class Slot, template <class> class Atomic = std::atomic>
class split_deque {
 public:
  // Bits of what the owner looks at after a push.
  static constexpr std::uint32_t request = 1;
  static constexpr std::uint32_t watch = 2;

  // Owner, before any thief knows the deque. At most 2^24 - 1 slots. `watched`: asked() is always true.
  void open(Slot* first, bool watched = false) noexcept {
    slots_ = first;
    unasked_ = watched ? watch : 0;
    set_head(first);
    guard_.store(first, std::memory_order_relaxed);
    asked_.store(unasked_ | request, std::memory_order_relaxed);  // nothing is public: the first push shares
  }

  // Owner, between two times of using the deque, when it is empty: head() is null until resume(). Thieves may
  // look at it meanwhile.
  void suspend() noexcept { set_head(nullptr); }
  // `guard` stays as it is, since an exposure may be under way.
  void resume(Slot* first) noexcept {
    set_head(first);
    invite();
  }
  // The next push shares, as if a thief asked.
  void invite() noexcept { asked_.store(unasked_ | request, std::memory_order_relaxed); }

  // ---- The owner's part: no locked instruction, no fence ----

  // Where the next push goes; null if this thread owns no deque.
  [[nodiscard]] Slot* head() const noexcept { return head_.load(std::memory_order_relaxed); }

  // The slot at head() has been filled. asked() must be looked at next.
  void push(Slot* slot) noexcept {
    set_head(slot + 1);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler, too, keeps asked() after this
  }

  // Whether a thief asks for public work, or the deque is watched: one branch tells the owner whether anybody
  // is interested. Relaxed: the barrier that the thief has every thread execute (expose()) orders
  // it after push().
  [[nodiscard]] bool asked() const noexcept { return asked_.load(std::memory_order_relaxed) != 0; }
  // Whether a thief asks for public work; if so, call share().
  [[nodiscard]] bool asked_to_share() const noexcept {
    return (asked_.load(std::memory_order_relaxed) & request) != 0;
  }
  // Not 0 if the deque is watched: `watch`.
  [[nodiscard]] std::uint32_t watched() const noexcept { return unasked_; }

  // Takes the newest slot, if it is private and no thief is about. Else retake() decides. Relaxed: thieves
  // write `guard` only upwards, and retake() decides on `bounds`.
  [[nodiscard]] bool take(Slot* slot) noexcept {
    set_head(slot);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // as in push(), for expose()
    return slot >= guard_.load(std::memory_order_relaxed);
  }

  // ---- The owner's part when thieves have to do with it ----

  // After take() said no. True: the slot is the owner's. False: it was stolen, as were all older ones; the
  // head stays above it until reclaim().
  [[nodiscard]] bool retake(Slot* slot) noexcept {
    const auto index = index_of(slot);
    auto bounds = bounds_.load(std::memory_order_relaxed);
    for (;;) {
      const auto tail = tail_of(bounds);
      if (tail > index) {
        set_head(slot + 1);
        // Not lowered without a new version: the next pushed slot may be in an exposure's sight already.
        guard_.store(top(), std::memory_order_relaxed);
        return false;
      }
      // If it is public, half of what is becomes private again, this slot with it.
      const auto split = split_of(bounds) > index ? (tail + index + 1) / 2 : split_of(bounds);
      guard_.store(slots_ + split, std::memory_order_relaxed);
      // The new version has any exposure fail that read the head before this take. Release: pairs with the
      // acquire in expose(), so that a thief that saw this version raises `guard` after it was lowered here.
      if (bounds_.compare_exchange_weak(bounds, pack(tail, split, version_of(bounds) + 1),
                                        std::memory_order_release, std::memory_order_relaxed)) {
        return true;
      }
    }
  }

  // Makes the older half of the private slots public, and withdraws the thieves' request. Returns whether
  // there was any.
  bool share() noexcept {
    const auto head = index_of(this->head());
    auto bounds = bounds_.load(std::memory_order_relaxed);
    if (head <= split_of(bounds)) return false;
    withdraw();
    for (;;) {
      const auto split = split_of(bounds) + (head - split_of(bounds) + 1) / 2;
      guard_.store(slots_ + split, std::memory_order_relaxed);
      // Release: pairs with the acquire in steal(): the slots' contents. seq_cst: before the look at the
      // idle counters.
      if (bounds_.compare_exchange_weak(bounds, pack(tail_of(bounds), split, version_of(bounds) + 1),
                                        std::memory_order_seq_cst, std::memory_order_relaxed)) {
        return true;
      }
    }
  }

  // There is public work: a request needs no answer.
  void withdraw() noexcept {
    // seq_cst: with ask() and the gate's idle counters, deque.md, "A request is not lost".
    asked_.exchange(unasked_, std::memory_order_seq_cst);
  }

  // Every slot from this one up was stolen and its thief is done with it: they are free again.
  void reclaim(Slot* slot) noexcept {
    set_head(slot);
    const auto index = index_of(slot);
    const auto version = version_of(bounds_.load(std::memory_order_relaxed)) + 1;
    guard_.store(slot, std::memory_order_relaxed);
    // No exchange: nothing is public or private, before and after, so that neither a steal nor an exposure
    // can succeed. Release: as in retake().
    bounds_.store(pack(index, index, version), std::memory_order_release);
    asked_.store(unasked_ | request,
                 std::memory_order_relaxed);  // all was stolen: thieves are about, the next push shares
  }

  // In a child process of fork(), whose thread is no worker: the next take() of a frame below says no.
  void abandon() noexcept {
    suspend();
    guard_.store(top(), std::memory_order_relaxed);
    asked_.store(unasked_, std::memory_order_relaxed);
  }

  // Whether everything pushed has been stolen.
  [[nodiscard]] bool drained() const noexcept {
    return tail_of(bounds_.load(std::memory_order_relaxed)) == index_of(head());
  }

  // ---- The thieves' part ----

  // The oldest public slot, which then is the caller's to run; null if there is none or another was quicker.
  [[nodiscard]] Slot* steal() noexcept {
    return steal([](const Slot*) { return true; });
  }
  // The oldest public slot, or null, also if accepts(slot) is false. accepts() may not read the slot, but
  // what its owner wrote before.
  template <class Accepts>
  [[nodiscard]] Slot* steal(Accepts accepts) noexcept {
    // Acquire: pairs with the release in share() and expose(), through whatever exchanges lie between (all
    // are read-modify-writes, so the release sequence is not broken).
    auto bounds = bounds_.load(std::memory_order_acquire);
    if (tail_of(bounds) >= split_of(bounds) || !accepts(slots_ + tail_of(bounds))) return nullptr;
    // Acquire: as above. Only after this may the slot be read: the exchange fails if another took it
    // meanwhile.
    if (!bounds_.compare_exchange_strong(bounds, bounds + 1, std::memory_order_acquire,
                                         std::memory_order_relaxed)) {
      return nullptr;
    }
    return slots_ + tail_of(bounds);
  }

  // Whether there is private work. A hint.
  [[nodiscard]] bool has_private() const noexcept {
    auto* const head = head_.load(std::memory_order_acquire);
    return head != nullptr && index_of(head) > split_of(bounds_.load(std::memory_order_relaxed));
  }

  // Whether there is public work. seq_cst: a worker about to park looks here after it said so to the gate.
  [[nodiscard]] bool has_public() const noexcept {
    const auto bounds = bounds_.load(std::memory_order_seq_cst);
    return tail_of(bounds) < split_of(bounds);
  }

  // Asks the owner to share at its next push. Written only if not yet asked, since the owner reads this line
  // at every push.
  void ask() noexcept {
    if ((asked_.load(std::memory_order_seq_cst) & request) == 0) {
      asked_.exchange(unasked_ | request, std::memory_order_seq_cst);
    }
  }

  // Makes the older half of the private slots public, at any step of the owner. `barrier()` must
  // have every running thread of the process execute a full fence (membarrier). Returns whether there is
  // public work now. Costs the owner a miss or two, so it is for thieves that found nothing for a while.
  //
  // If it returns false after ask(), nothing was pushed before it that is not stolen or taken, and whatever
  // is pushed after it is shared at once.
  template <class Barrier>
  bool expose(Barrier&& barrier) noexcept {
    for (;;) {
      // Acquire: pairs with the owner's releases; its version goes with the `guard` it had then.
      auto bounds = bounds_.load(std::memory_order_acquire);
      if (tail_of(bounds) < split_of(bounds)) return true;
      // From the barrier on, each take() is either seen in `head` below, or sees this and goes to retake(),
      // which changes the version.
      guard_.store(top(), std::memory_order_relaxed);
      barrier();
      // Acquire: pairs with the release in set_head(): the slots' contents.
      const auto* const newest = head_.load(std::memory_order_acquire);
      const auto head = newest == nullptr ? 0 : index_of(newest);
      if (head <= split_of(bounds)) return has_public();
      const auto split = split_of(bounds) + (head - split_of(bounds) + 1) / 2;
      // Release: passes the slots' contents on to the thieves.
      if (bounds_.compare_exchange_strong(bounds, pack(tail_of(bounds), split, version_of(bounds)),
                                          std::memory_order_release, std::memory_order_relaxed)) {
        return true;
      }
    }
  }

 private:
  // Release: the slots' contents, to a thief's acquire in expose().
  void set_head(Slot* head) noexcept { head_.store(head, std::memory_order_release); }

  static constexpr int index_bits = 24;
  static constexpr std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1;
  static constexpr std::uint64_t tail_of(std::uint64_t bounds) noexcept { return bounds & index_mask; }
  static constexpr std::uint64_t split_of(std::uint64_t bounds) noexcept {
    return bounds >> index_bits & index_mask;
  }
  static constexpr std::uint64_t version_of(std::uint64_t bounds) noexcept {
    return bounds >> 2 * index_bits;
  }
  static constexpr std::uint64_t pack(std::uint64_t tail, std::uint64_t split,
                                      std::uint64_t version) noexcept {
    return tail | split << index_bits | version << 2 * index_bits;
  }
  std::uint64_t index_of(const Slot* slot) const noexcept {
    return static_cast<std::uint64_t>(slot - slots_);
  }
  static Slot* top() noexcept { return reinterpret_cast<Slot*>(~std::uintptr_t{0}); }

  // Read by the owner at every push and take; written by thieves that ask.
  alignas(64) Atomic<std::uint32_t> asked_{1};
  Atomic<Slot*> guard_{nullptr};  // take() succeeds from here up: `split`, or top() for an exposure
  // Written by the owner at every push and take. That it is atomic also has the compiler load these eight
  // bytes and no more: a wider load would have to wait until the last push has left the store buffer.
  alignas(64) Atomic<Slot*> head_{nullptr};
  Slot* slots_ = nullptr;      // constant once thieves know the deque, as is
  std::uint32_t unasked_ = 0;  // what asked_ is when nobody asks
  // Contended: tail, split and a version in one word, so that all agree by one exchange. The version (16
  // bits) changes whenever the owner takes or frees a slot that an exposure may be about.
  alignas(64) Atomic<std::uint64_t> bounds_{0};
};

}  // namespace teff::detail
