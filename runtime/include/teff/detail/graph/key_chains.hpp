// The table of the keys without a place, which all workers share. It grows while they use it.
//
// Protocol: src/graph/chains.md.
#pragma once

#include <teff/detail/graph/key_table.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace teff::detail {

class key_chains {
  using node = graph_node;
  using word = std::uintptr_t;
  struct table;
  struct larger_table;

 public:
  ~key_chains();

  // Holds the chain in which a hash lies. Another thread that wants it looks until this one has ended.
  class held_chain {
   public:
    held_chain(key_chains& among, std::size_t hash) noexcept
        : of_(among.current_.load(std::memory_order_acquire)) {  // pairs with the release in move_some()
      while (!take(of_->bucket(hash), bucket_, chain_))
        of_ = of_->next.load(std::memory_order_acquire);  // pairs with the release in grow()
    }
    // Release: pairs with the acquire in take().
    ~held_chain() { bucket_->store(word_of(chain_), std::memory_order_release); }
    held_chain(const held_chain&) = delete;
    held_chain& operator=(const held_chain&) = delete;

    // The node of a key, or null. Moves the nodes on the way whose tasks have run to `spare`, linked by
    // `next`. is_it(node): whether the node has that key.
    template <class Is>
    [[nodiscard]] node* find(std::size_t hash, Is is_it, node*& spare) {
      passed_ = 0;
      for (node** at = &chain_; *at != nullptr;) {
        node& each = **at;
        // Acquire: pairs with the release in forget(): the worker that ran the task is done with the node.
        if (each.ran.load(std::memory_order_acquire)) {
          *at = each.next;
          push(&each, spare);
        } else if (each.hash == hash && is_it(each)) {
          return &each;
        } else {
          at = &each.next;
          ++passed_;
        }
      }
      return nullptr;
    }
    // After find() has found no such key.
    void add(node* made) noexcept { push(made, chain_); }
    // Whether the table should grow if it has more keys than buckets.
    [[nodiscard]] bool is_long() const noexcept { return passed_ >= long_chain; }

   private:
    table* of_;
    std::atomic<word>* bucket_ = nullptr;
    node* chain_ = nullptr;
    unsigned passed_ = 0;
  };

  // The task of a node has run: from here on its key counts as never fulfilled. The caller uses the node no
  // more.
  static void forget(node& gone) noexcept { gone.ran.store(true, std::memory_order_release); }

  // The thread has counted a key, and holds no chain: while the table grows, moves some chains to the larger
  // table.
  void move_some() noexcept {
    table& of = *current_.load(std::memory_order_acquire);  // pairs with the release in move_some(table&)
    if (of.next.load(std::memory_order_acquire) != nullptr) [[unlikely]]  // pairs with the release in grow()
      move_some(of);
  }
  // Begins to grow if there are fewer buckets than keys. Without memory it stays as it is, and its chains get
  // longer. The caller holds no chain.
  void grow(std::size_t keys) noexcept;

  // Takes out all nodes. No other thread may use the table meanwhile.
  template <class Each>
  void clear(Each each) {
    for (table* of = current_.load(std::memory_order_acquire); of != nullptr;
         of = of->next.load(std::memory_order_acquire)) {
      for (std::size_t at = 0; at <= of->mask; ++at) {
        const word held = of->bucket(at).load(std::memory_order_acquire);
        if (held == moved || held == 0) continue;
        of->bucket(at).store(0, std::memory_order_relaxed);
        for (node* left = node_of(held); left != nullptr;) each(std::exchange(left, left->next));
      }
    }
  }

 private:
  // A bucket holds a chain, and `taken` while a thread has it. Or the chain was moved to the larger table.
  static constexpr word taken = 1;
  static constexpr word moved = 2;
  static word word_of(const node* first) noexcept { return reinterpret_cast<word>(first); }
  static node* node_of(word of) noexcept { return reinterpret_cast<node*>(of & ~taken); }

  static constexpr std::size_t growth = 4;         // a larger table has so many buckets for each
  static constexpr std::size_t moved_at_once = 4;  // so it has grown long before it is crowded again
  static constexpr unsigned long_chain = 6;

  struct table {
    table(std::atomic<word>* all, std::size_t buckets, unsigned words_between) noexcept
        : words(all), mask(buckets - 1), spread(words_between), left(buckets) {}
    // Of a hash, or by its index.
    [[nodiscard]] std::atomic<word>& bucket(std::size_t at) const noexcept {
      return words[(at & mask) << spread];
    }

    std::atomic<word>* const words;
    const std::size_t mask;
    const unsigned spread;                            // a bucket has 2^spread words
    std::atomic<table*> next{nullptr};                // the larger one, while and after it grows; owned
    alignas(64) std::atomic<std::size_t> to_move{0};  // the next bucket that a thread moves
    std::atomic<std::size_t> left;                    // buckets that were not moved
  };

  static void push(node* added, node*& list) noexcept {
    added->next = list;
    list = added;
  }
  // Takes the chain of a bucket. Returns false if it was moved.
  static bool take(std::atomic<word>& bucket, std::atomic<word>*& held, node*& chain) noexcept {
    // Acquire, wherever it is seen that the bucket was moved: pairs with the release in move_some().
    for (word seen = bucket.load(std::memory_order_acquire); seen != moved;) {
      // Acquire: pairs with the release of the last holder: the nodes, and what the earlier fulfillers did.
      if ((seen & taken) == 0 && bucket.compare_exchange_strong(seen, seen | taken, std::memory_order_acquire,
                                                                std::memory_order_acquire)) {
        held = &bucket;
        chain = node_of(seen);
        return true;
      }
      if ((seen & taken) != 0) seen = untaken(bucket);
    }
    return false;
  }
  // Waits until no thread has the chain.
  [[gnu::noinline]] static word untaken(const std::atomic<word>& bucket) noexcept;
  [[gnu::noinline]] void move_some(table& of) noexcept;

  static constexpr std::size_t first_buckets = 64;
  static constexpr unsigned first_spread = 3;  // each on a cache line

  alignas(64) std::array<std::atomic<word>, first_buckets << first_spread> first_words_{};
  table first_{first_words_.data(), first_buckets, first_spread};
  std::atomic<table*> current_{&first_};  // of which not all was moved
};

}  // namespace teff::detail
