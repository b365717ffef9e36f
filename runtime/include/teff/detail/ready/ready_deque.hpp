// A deque of pointers: its owner pushes and takes at one end, thieves steal at the other (Chase & Lev, 2005).
// The memory orders follow Lê et al., 2013, with sequentially consistent operations for fences.
//
// src/ready/README.md. tests/graph_model_test.cpp checks this very code.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace teff::detail {

// `few`, a power of two, is how many items it holds before it allocates memory.
template <class T, template <class> class Atomic = std::atomic, std::size_t few = 16>
class ready_deque {
 public:
  ~ready_deque();

  // The owner. For one more item: then push() does not throw. Throws std::bad_alloc.
  void make_room() { static_cast<void>(with_room(bottom_.load(std::memory_order_relaxed))); }
  // The owner. Throws std::bad_alloc.
  void push(T* item) {
    const auto bottom = bottom_.load(std::memory_order_relaxed);
    auto* const items = with_room(bottom);
    items->at(bottom).store(item, std::memory_order_relaxed);
    // Release: the item, to the acquire of a thief's load.
    bottom_.store(bottom + 1, std::memory_order_release);
  }

  // The owner. The newest item, or null.
  [[nodiscard]] T* take() noexcept {
    const auto bottom = bottom_.load(std::memory_order_relaxed) - 1;
    // Nothing to take, as far as the owner can know without a fence: `top` only rises.
    if (top_.load(std::memory_order_relaxed) > bottom) return nullptr;
    auto* const items = items_.load(std::memory_order_relaxed);
    // seq_cst, with the loads in steal(): the thief sees this, or this sees the thief's `top`.
    bottom_.store(bottom, std::memory_order_seq_cst);
    auto top = top_.load(std::memory_order_seq_cst);
    T* item = nullptr;
    if (top <= bottom) {
      item = items->at(bottom).load(std::memory_order_relaxed);
      if (top < bottom) return item;
      // The last one: thieves want it too.
      if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
        item = nullptr;
    }
    bottom_.store(bottom + 1, std::memory_order_relaxed);
    return item;
  }

  // Thieves. The oldest item, or null if there is none or another was quicker.
  [[nodiscard]] T* steal() noexcept {
    auto top = top_.load(std::memory_order_seq_cst);
    const auto bottom = bottom_.load(std::memory_order_seq_cst);
    if (top >= bottom) return nullptr;
    // Acquire: pairs with the release in grow(): the items.
    auto* const items = items_.load(std::memory_order_acquire);
    T* const item = items->at(top).load(std::memory_order_relaxed);
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
      return nullptr;
    return item;
  }

  // Whether there is an item. seq_cst: the last look of a worker that is about to sleep.
  [[nodiscard]] bool empty() const noexcept {
    return top_.load(std::memory_order_seq_cst) >= bottom_.load(std::memory_order_seq_cst);
  }

 private:
  struct ring {
    Atomic<T*>& at(std::int64_t position) noexcept {
      return items[static_cast<std::size_t>(position & (capacity - 1))];
    }
    std::int64_t capacity;
    Atomic<T*>* items;
  };
  struct allocated_ring : ring {
    allocated_ring* before;
  };

  ring* with_room(std::int64_t bottom) {
    // Acquire: pairs with the exchange in steal(): the slot that is written again was read.
    const auto top = top_.load(std::memory_order_acquire);
    auto* const items = items_.load(std::memory_order_relaxed);
    return bottom - top < items->capacity ? items : grow(top, bottom);
  }
  [[gnu::noinline]] ring* grow(std::int64_t top, std::int64_t bottom);

  static constexpr std::int64_t least_allocated = 16 * few;

  alignas(64) Atomic<std::int64_t> top_{0};
  alignas(64) Atomic<std::int64_t> bottom_{0};
  Atomic<ring*> items_{&first_};
  allocated_ring* newest_ = nullptr;  // and those before: thieves may still read the old ones
  Atomic<T*> few_[few] = {};
  ring first_{few, few_};
};

template <class T, template <class> class Atomic, std::size_t few>
ready_deque<T, Atomic, few>::~ready_deque() {
  while (newest_ != nullptr) {
    delete[] newest_->items;
    delete std::exchange(newest_, newest_->before);
  }
}

template <class T, template <class> class Atomic, std::size_t few>
typename ready_deque<T, Atomic, few>::ring* ready_deque<T, Atomic, few>::grow(std::int64_t top,
                                                                              std::int64_t bottom) {
  auto* const old = items_.load(std::memory_order_relaxed);
  const auto capacity = 2 * old->capacity < least_allocated ? least_allocated : 2 * old->capacity;
  auto items = std::make_unique<Atomic<T*>[]>(static_cast<std::size_t>(capacity));
  auto* const larger = new allocated_ring{{capacity, items.get()}, newest_};
  items.release();
  newest_ = larger;
  for (auto i = top; i < bottom; ++i)
    larger->at(i).store(old->at(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
  // Release: the items, to the acquire in steal().
  items_.store(larger, std::memory_order_release);
  return larger;
}

}  // namespace teff::detail
