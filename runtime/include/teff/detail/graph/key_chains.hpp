// Counts for keys that any worker may fulfil: a hash table without locks, in which nobody waits for anybody.
//
// Protocol and proof sketch: src/graph/chains.md. tests/graph_model_test.cpp checks
// this very code.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace teff::detail {

// A bucket is a chain of nodes: all keys that were fulfilled and whose tasks have not run. To change it, a
// worker takes the whole chain out and puts it back. A worker that finds the chain taken leaves a request
// there, and goes on; the one that has the chain sees to the request before it puts the chain back. So all
// changes of a key have one order, and a worker that is interrupted while it has a chain stops no other from
// counting.
//
// `Node` has: Node* next, in the chain; next_in_line, a pointer to it or to its base, of its own while it is
// ready or a request; int received, needed; bool ran, false at first; and `bool same_key(const Node&)`.
template <class Node, template <class> class Atomic = std::atomic>
class key_chains {
 public:
  // `buckets` is a power of two.
  explicit key_chains(std::size_t buckets) : mask_(buckets - 1), buckets_(new Atomic<word>[buckets] {}) {}

  // What a change leaves to its caller, requests of other threads included.
  struct outcome {
    Node* ready = nullptr;  // linked by `next_in_line`: these have all that they need; they stay in the chain
    Node* spare = nullptr;  // linked by `next`: in no chain any more
  };

  // Counts one fulfilment of the key that `is_it` recognises. If there is no node for it, `make()` returns
  // one that has received one fulfilment; if it returns null, nothing is counted. Calls `over(node)` for a
  // node that was fulfilled once too often; `over` may not keep the node.
  template <class Is, class Make, class Over>
  outcome fulfill(std::size_t hash, Is is_it, Make make, Over over) {
    auto& bucket = buckets_[hash & mask_];
    outcome result;
    Node* made = nullptr;
    Node* chain = nullptr;
    const auto request = [&] { return made != nullptr ? made : made = make(); };
    if (!take(bucket, chain, request)) return result;
    Node* found = chain;
    while (found != nullptr && !is_it(*found)) found = found->next;
    if (found != nullptr) {
      count(*found, result, over);
      if (made != nullptr) push(made, result.spare);
    } else if (request() != nullptr) {
      add(*made, chain, result);
    }
    put_back(bucket, chain, result, over);
    return result;
  }

  // The task of a node has run: from here on its key counts as never fulfilled.
  template <class Over>
  outcome forget(std::size_t hash, Node& gone, Over over) {
    auto& bucket = buckets_[hash & mask_];
    outcome result;
    Node* chain = nullptr;
    gone.ran = true;
    if (!take(bucket, chain, [&] { return &gone; })) return result;
    take_out(gone, chain, result);
    put_back(bucket, chain, result, over);
    return result;
  }

  // Takes out all nodes. No other thread may use the table meanwhile.
  template <class Each>
  void clear(Each each) {
    for (std::size_t i = 0; i <= mask_; ++i) {
      for (Node* node = node_of(buckets_[i].exchange(0, std::memory_order_acquire)); node != nullptr;)
        each(std::exchange(node, node->next));
    }
  }

 private:
  // A bucket holds a chain; or, while somebody has that, `taken` and the requests, the newest first.
  using word = std::uintptr_t;
  static constexpr word taken = 1;
  static word word_of(const Node* node) { return reinterpret_cast<word>(node); }
  static Node* node_of(word of) { return reinterpret_cast<Node*>(of & ~taken); }

  static void push(Node* node, Node*& list) {
    node->next = list;
    list = node;
  }

  // Takes the chain out and returns true. If another thread has it, leaves the node that `request()` returns,
  // unless that is null, and returns false.
  template <class Request>
  static bool take(Atomic<word>& bucket, Node*& chain, Request request) {
    word seen = bucket.load(std::memory_order_relaxed);
    for (;;) {
      if ((seen & taken) == 0) {
        // Acquire: pairs with the release in put_back(): the nodes, and what the earlier fulfillers did.
        if (bucket.compare_exchange_strong(seen, taken, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
          chain = node_of(seen);
          return true;
        }
      } else {
        Node* const left = request();
        if (left == nullptr) return false;
        left->next_in_line = node_of(seen);
        // Release: pairs with the acquire in put_back(): the node, and what came before this fulfilment.
        if (bucket.compare_exchange_strong(seen, word_of(left) | taken, std::memory_order_release,
                                           std::memory_order_relaxed))
          return false;
      }
    }
  }

  template <class Over>
  static void put_back(Atomic<word>& bucket, Node* chain, outcome& result, Over over) {
    for (;;) {
      word expected = taken;
      // Release: pairs with the acquire of whoever takes the chain next.
      if (bucket.compare_exchange_strong(expected, word_of(chain), std::memory_order_release,
                                         std::memory_order_relaxed))
        return;
      // Acquire: pairs with the release of all who left a request; their exchanges are one release sequence.
      for (Node* next = oldest_first(node_of(bucket.exchange(taken, std::memory_order_acquire)));
           next != nullptr;) {
        Node& request = *std::exchange(next, static_cast<Node*>(next->next_in_line));
        if (request.ran)
          take_out(request, chain, result);
        else
          add_up(request, chain, result, over);
      }
    }
  }

  static Node* oldest_first(Node* newest) {
    Node* oldest = nullptr;
    while (newest != nullptr) {
      Node* const older = static_cast<Node*>(std::exchange(newest->next_in_line, oldest));
      oldest = std::exchange(newest, older);
    }
    return oldest;
  }

  template <class Over>
  static void add_up(Node& more, Node*& chain, outcome& result, Over over) {
    Node* found = chain;
    while (found != nullptr && !found->same_key(more)) found = found->next;
    if (found == nullptr) return add(more, chain, result);
    count(*found, result, over);
    push(&more, result.spare);
  }

  static void add(Node& made, Node*& chain, outcome& result) {
    push(&made, chain);
    if (made.received >= made.needed) line_up(made, result);
  }

  template <class Over>
  static void count(Node& found, outcome& result, Over over) {
    ++found.received;
    if (found.received == found.needed) line_up(found, result);
    if (found.received > found.needed) [[unlikely]]
      over(found);
  }

  static void line_up(Node& ready, outcome& result) {
    ready.next_in_line = result.ready;
    result.ready = &ready;
  }

  static void take_out(Node& gone, Node*& chain, outcome& result) {
    Node** at = &chain;
    while (*at != &gone) at = &(*at)->next;
    *at = gone.next;
    push(&gone, result.spare);
  }

  std::size_t mask_;
  std::unique_ptr<Atomic<word>[]> buckets_;
};

}  // namespace teff::detail
