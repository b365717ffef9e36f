// Counts for keys that any worker may fulfil: a hash table without locks, in which nobody waits for anybody.
//
// Protocol and proof sketch: runtime/src/README.md, "Keys without a place". tests/graph_model_test.cpp checks
// this very code.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace teff::detail {

// A bucket is a chain of nodes. Who wants to change it takes the whole chain out, changes it as its own, and
// puts it back; if others have put a chain there meanwhile, it takes that too and adds the two up. So a key
// may be counted in several nodes for a moment, and a worker that is interrupted with a chain in its hands
// keeps nobody from counting on.
//
// `Node` has: Node* next; int received, needed; std::size_t hash; and `bool same_key(const Node&)`.
template <class Node, template <class> class Atomic = std::atomic>
class key_chains {
 public:
  // `buckets` is a power of two.
  explicit key_chains(std::size_t buckets) : mask_(buckets - 1), buckets_(new Atomic<Node*>[buckets] {}) {}

  // What a fulfilment left to its caller, both linked by `next`.
  struct outcome {
    Node* ready = nullptr;  // these have all that they need, and are known no more
    Node* spare = nullptr;  // were added up into others
  };

  // Counts one fulfilment of the key that `is_it` recognises. `make()` gives a node for it with one received,
  // if there is none; if it gives null, nothing is counted.
  template <class Is, class Make>
  outcome fulfill(std::size_t hash, Is is_it, Make make) {
    auto& bucket = buckets_[hash & mask_];
    // Acquire: pairs with the release in put_back(): the nodes, and what the earlier fulfillers did.
    Node* chain = bucket.exchange(nullptr, std::memory_order_acquire);
    outcome result;
    Node** at = &chain;
    while (*at != nullptr && !is_it(**at)) at = &(*at)->next;
    if (*at != nullptr) {
      ++(*at)->received;
      check(at, result);
    } else if (Node* const made = make(); made != nullptr) {
      made->next = chain;
      chain = made;
      check(&chain, result);
    }
    put_back(bucket, chain, result);
    return result;
  }

  // Takes out everything. Only when nobody counts.
  template <class Each>
  void clear(Each each) {
    for (std::size_t i = 0; i <= mask_; ++i) {
      for (Node* node = buckets_[i].exchange(nullptr, std::memory_order_acquire); node != nullptr;) {
        Node* const next = node->next;
        each(node);
        node = next;
      }
    }
  }

 private:
  static void move(Node** from, Node*& to) {
    Node* const node = *from;
    *from = node->next;
    node->next = to;
    to = node;
  }

  static void check(Node** at, outcome& result) {
    if ((*at)->received >= (*at)->needed) move(at, result.ready);
  }

  void put_back(Atomic<Node*>& bucket, Node* chain, outcome& result) {
    while (chain != nullptr) {
      Node* expected = nullptr;
      // Release: pairs with the acquire of whoever takes the chain next.
      if (bucket.compare_exchange_strong(expected, chain, std::memory_order_release,
                                         std::memory_order_relaxed)) {
        return;
      }
      add_up(chain, bucket.exchange(nullptr, std::memory_order_acquire), result);
    }
  }

  static void add_up(Node*& chain, Node* others, outcome& result) {
    while (others != nullptr) {
      Node** at = &chain;
      while (*at != nullptr && !(*at)->same_key(*others)) at = &(*at)->next;
      if (*at == nullptr) {
        move(&others, chain);
      } else {
        (*at)->received += others->received;
        move(&others, result.spare);
        check(at, result);
      }
    }
  }

  std::size_t mask_;
  std::unique_ptr<Atomic<Node*>[]> buckets_;
};

}  // namespace teff::detail
