// Counts for keys that any worker may fulfil: a hash table without locks, in which nobody waits for anybody,
// and which grows while it is used.
//
// Protocol and proof sketch: src/graph/chains.md. tests/graph_model_test.cpp checks
// this very code.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/zeroed_array.hpp>
#include <teff/detail/task_source/recycled_memory.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace teff::detail {

// A bucket is a chain of nodes: all keys that were fulfilled and whose tasks have not run, and some whose
// tasks have. To change it, a worker takes the whole chain out and puts it back. A worker that finds the
// chain taken leaves a request there, and goes on; the one that has the chain sees to the request before it
// puts the chain back. So all changes of a key have one order, and a worker that is interrupted while it has
// a chain stops no other from counting.
//
// `Node` has these members:
// - Node* next: in the chain
// - next_in_line: a pointer to a Node or to its base; the line of ready nodes or requests uses it
// - std::size_t hash; int received, needed
// - bool ended, Atomic<bool> ran: false at first
//
// Same()(a, b) says whether two nodes have the same key: as a.same_key(b) does, unless it is given.
struct same_by_member {
  template <class Node>
  bool operator()(Node& a, Node& b) const {
    return a.same_key(b);
  }
};
template <class Node, template <class> class Atomic = std::atomic, class Same = same_by_member>
class key_chains {
 public:
  struct shape {
    std::size_t buckets = 64;  // that it begins with: a power of two
    unsigned spread = 3;       // 2^spread words for each of them: so that no two lie in one cache line
    unsigned long_chain = 6;   // a chain of so many nodes asks whether the table is crowded
  };
  explicit key_chains(shape of, Same same = {})
      : same_(same), long_chain_(of.long_chain), first_(of.buckets, of.spread) {}
  key_chains(const key_chains&) = delete;
  key_chains& operator=(const key_chains&) = delete;
  static void* operator new(std::size_t bytes, std::align_val_t /*alignment*/) {
    return take_recycled(bytes);
  }
  static void operator delete(void* memory, std::size_t bytes, std::align_val_t /*alignment*/) noexcept {
    give_recycled(memory, bytes);
  }

  // A change leaves this to its caller, requests of other threads included.
  struct outcome {
    Node* ready = nullptr;  // linked by `next_in_line`: these have all that they need; they stay in the chain
    Node* spare = nullptr;  // linked by `next`: in no chain any more
  };

  // Counts one fulfilment of the key that `is_it` recognises. If there is no node for it, `make()` returns
  // one that has received one fulfilment; if it returns null, nothing is counted. Calls `over(node)` for a
  // node that was fulfilled once too often; `over` may not keep the node. The table grows if a chain is long
  // and `crowded(buckets)` says that there are more nodes than that.
  template <class Is, class Make, class Over, class Crowded>
  outcome fulfill(std::size_t hash, Is is_it, Make make, Over over, Crowded crowded) {
    outcome result;
    Node* made = nullptr;
    Node* chain = nullptr;
    const auto request = [&] { return made != nullptr ? made : made = make(); };
    table* const first = current_.load(std::memory_order_acquire);  // pairs with the release in move()
    table* of = first;
    for (taking got = take(of->bucket(hash), chain, request); got != taking::chain;
         got = take(of->bucket(hash), chain, request)) {
      if (got == taking::none) return result;
      of = of->next.load(std::memory_order_acquire);  // pairs with the release in grow()
    }
    const auto [found, length] = find(chain, is_it, result);
    if (found != nullptr) {
      count(*found, result, over);
      if (made != nullptr) push(made, result.spare);
    } else if (request() != nullptr) {
      add(*made, chain, result);
      if (length >= long_chain_ && crowded(of->mask + 1)) [[unlikely]]
        grow(*of);
    }
    put_back(*of, hash & of->mask, chain, result, over);
    if (first->next.load(std::memory_order_acquire) != nullptr) [[unlikely]]
      move_some(*first, result, over);
    return result;
  }

  // The task of a node has run: from here on its key counts as never fulfilled. The caller uses the node no
  // more.
  void forget(Node& gone) {
    table* of = current_.load(std::memory_order_acquire);  // pairs with the release in move()
    for (;;) {
      auto& bucket = of->bucket(gone.hash);
      // Acquire: pairs with the release in move().
      word seen = bucket.load(std::memory_order_acquire);
      while (seen != moved) {
        if ((seen & taken) == 0) {
          // Nobody has left a request before that was not seen to. Release: this worker is done with the
          // node, to the worker that finds it in its chain.
          gone.ran.store(true, std::memory_order_release);
          return;
        }
        // After the requests that are there.
        gone.ended = true;
        gone.next_in_line = node_of(seen);
        // Release: pairs with the acquire in requests().
        if (bucket.compare_exchange_strong(seen, word_of(&gone) | (seen & (taken | asked)),
                                           std::memory_order_acq_rel, std::memory_order_acquire))
          return;
        gone.ended = false;
      }
      of = of->next.load(std::memory_order_acquire);  // pairs with the release in grow()
    }
  }

  // Takes out all nodes. No other thread may use the table meanwhile.
  template <class Each>
  void clear(Each each) {
    for (table* of = current_.load(std::memory_order_acquire); of != nullptr;
         of = of->next.load(std::memory_order_acquire)) {
      for (std::size_t at = 0; at <= of->mask; ++at) {
        auto& bucket = of->bucket(at);
        const word held = bucket.load(std::memory_order_acquire);
        if (held == moved || held == 0) continue;
        bucket.store(0, std::memory_order_relaxed);
        for (Node* node = node_of(held); node != nullptr;) each(std::exchange(node, node->next));
      }
    }
  }

 private:
  // A bucket holds a chain. While a worker has the chain, the bucket holds `taken` and the requests, the
  // newest first, and maybe `asked`: the worker is to move the chain to the larger table. Or it was moved.
  using word = std::uintptr_t;
  static constexpr word taken = 1;
  static constexpr word asked = 2;
  static constexpr word moved = asked;
  static word word_of(const Node* node) { return reinterpret_cast<word>(node); }
  static Node* node_of(word of) { return reinterpret_cast<Node*>(of & ~(taken | asked)); }

  // A larger table has so many buckets for each.
  static constexpr std::size_t growth = 4;
  // A worker that counts while the table grows moves so many buckets. So the table has grown long before it
  // is crowded again.
  static constexpr std::size_t moved_at_once = 4;

  struct table {
    table(std::size_t buckets, unsigned words_between)
        : mask(buckets - 1), spread(words_between), words(buckets << words_between), left(buckets) {}
    // By a hash, or by its index.
    [[nodiscard]] Atomic<word>& bucket(std::size_t at) const { return words.get()[(at & mask) << spread]; }

    const std::size_t mask;
    const unsigned spread;
    const zeroed_array<Atomic<word>> words;
    Atomic<table*> next{nullptr};   // the larger one, while and after it grows
    std::unique_ptr<table> larger;  // the same, for the destructor; the thread that made it sets it
    alignas(64) Atomic<std::size_t> to_move{0};  // the next bucket that somebody moves
    Atomic<std::size_t> left;                    // buckets that were not moved
  };

  static void push(Node* node, Node*& list) {
    node->next = list;
    list = node;
  }

  enum class taking : std::uint8_t { chain, none, moved };
  // Takes the chain out. If another thread has it, leaves the node that `request()` returns, unless that is
  // null.
  template <class Request>
  static taking take(Atomic<word>& bucket, Node*& chain, Request request) {
    // Acquire, wherever it is seen that the bucket was moved: pairs with the release in move().
    word seen = bucket.load(std::memory_order_acquire);
    for (;;) {
      if (seen == moved) return taking::moved;
      if ((seen & taken) == 0) {
        // Acquire: pairs with the release in put_back(): the nodes, and what the earlier fulfillers did.
        if (bucket.compare_exchange_strong(seen, taken, std::memory_order_acquire,
                                           std::memory_order_acquire)) {
          chain = node_of(seen);
          return taking::chain;
        }
      } else {
        Node* const left = request();
        if (left == nullptr) return taking::none;
        left->next_in_line = node_of(seen);
        // Release: pairs with the acquire in requests(): the node, and what came before this fulfilment.
        // Acquire: as above, if it fails.
        if (bucket.compare_exchange_strong(seen, word_of(left) | (seen & (taken | asked)),
                                           std::memory_order_acq_rel, std::memory_order_acquire))
          return taking::none;
      }
    }
  }

  template <class Over>
  void put_back(table& of, std::size_t at, Node* chain, outcome& result, Over over) {
    auto& bucket = of.bucket(at);
    // Acquire: pairs with the release in grow(). The worker that was asked to move the chain sees that the
    // table grows.
    while (of.next.load(std::memory_order_acquire) == nullptr) {
      word expected = taken;
      // Release: pairs with the acquire of the worker that takes the chain next.
      if (bucket.compare_exchange_strong(expected, word_of(chain), std::memory_order_release,
                                         std::memory_order_relaxed))
        return;
      for (Node* next = requests(bucket); next != nullptr;) {
        Node& request = *std::exchange(next, static_cast<Node*>(next->next_in_line));
        see_to(request, chain, result, over);
      }
    }
    move(of, at, chain, result, over);
  }

  // The requests that were left, the oldest first.
  static Node* requests(Atomic<word>& bucket) {
    // Acquire: pairs with the release of all workers that left a request, or asked for the chain to be moved;
    // their exchanges are one release sequence.
    Node* newest = node_of(bucket.exchange(taken, std::memory_order_acquire));
    Node* oldest = nullptr;
    while (newest != nullptr) {
      Node* const older = static_cast<Node*>(std::exchange(newest->next_in_line, oldest));
      oldest = std::exchange(newest, older);
    }
    return oldest;
  }

  // The node of a key, or null; and how many it has passed. Takes out the nodes on the way whose tasks have
  // run.
  template <class Is>
  static std::pair<Node*, unsigned> find(Node*& chain, Is is_it, outcome& result) {
    unsigned passed = 0;
    for (Node** at = &chain; *at != nullptr;) {
      Node& each = **at;
      // Acquire: the worker that ran the task is done with the node.
      if (each.ran.load(std::memory_order_acquire)) {
        *at = each.next;
        push(&each, result.spare);
      } else if (is_it(each)) {
        return {&each, passed};
      } else {
        at = &each.next;
        ++passed;
      }
    }
    return {nullptr, passed};
  }

  template <class Over>
  void see_to(Node& request, Node*& chain, outcome& result, Over over) {
    if (request.ended) {
      take_out(request, chain, result);
    } else {
      add_up(request, chain, result, over);
    }
  }

  static void take_out(Node& gone, Node*& chain, outcome& result) {
    Node** at = &chain;
    while (*at != &gone) at = &(*at)->next;
    *at = gone.next;
    gone.ran.store(true, std::memory_order_relaxed);
    push(&gone, result.spare);
  }

  template <class Over>
  void add_up(Node& more, Node*& chain, outcome& result, Over over) {
    Node* const found = find(chain, [&](Node& each) { return same_(each, more); }, result).first;
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

  // ---- Growing ----

  // Without memory it stays as it is, and its chains get longer.
  void grow(table& of) noexcept {
    // Not again before all is moved: a bucket is looked for in two tables at most.
    if (current_.load(std::memory_order_relaxed) != &of || of.next.load(std::memory_order_relaxed) != nullptr)
      return;
    std::unique_ptr<table> larger;
    catch_all([&] { larger = std::make_unique<table>(growth * (of.mask + 1), 0); }, [] {});
    if (larger == nullptr) return;
    table* none = nullptr;
    // Release: the empty table, to the worker that reads `next`.
    if (of.next.compare_exchange_strong(none, larger.get(), std::memory_order_release,
                                        std::memory_order_relaxed))
      of.larger = std::move(larger);
  }

  // The caller has the chain: shares its nodes out among the buckets of the larger table. Nobody looks there
  // for them before the bucket says `moved`, so the requests that come meanwhile are seen to first.
  template <class Over>
  void move(table& of, std::size_t at, Node* chain, outcome& result, Over over) {
    table& into = *of.next.load(std::memory_order_acquire);
    const auto part_of = [&](const Node& node) { return (node.hash & into.mask) / (of.mask + 1); };
    std::array<Node*, growth> parts{};
    while (chain != nullptr) {
      Node* const each = std::exchange(chain, chain->next);
      push(each, each->ran.load(std::memory_order_acquire) ? result.spare : parts[part_of(*each)]);
    }
    for (word expected = taken;; expected = taken) {
      for (std::size_t i = 0; i < growth; ++i)
        into.bucket(at + i * (of.mask + 1)).store(word_of(parts[i]), std::memory_order_relaxed);
      // Release: the buckets above, to the acquire of the worker that sees `moved`.
      if (of.bucket(at).compare_exchange_strong(expected, moved, std::memory_order_release,
                                                std::memory_order_relaxed))
        break;
      for (Node* next = requests(of.bucket(at)); next != nullptr;) {
        Node& request = *std::exchange(next, static_cast<Node*>(next->next_in_line));
        see_to(request, parts[part_of(request)], result, over);
      }
    }
    // Release and acquire: the last one hands on what all have moved. The release below: to a worker that
    // begins there.
    if (of.left.fetch_sub(1, std::memory_order_acq_rel) == 1)
      current_.store(&into, std::memory_order_release);
  }

  // Some buckets that may not have been moved.
  template <class Over>
  void move_some(table& of, outcome& result, Over over) {
    if (current_.load(std::memory_order_relaxed) != &of) return;
    const auto from = of.to_move.fetch_add(moved_at_once, std::memory_order_relaxed);
    for (auto at = from; at < from + moved_at_once && at <= of.mask; ++at) {
      Node* chain = nullptr;
      if (take_or_ask(of.bucket(at), chain)) move(of, at, chain, result, over);
    }
  }

  // Takes the chain out. If another thread has it, asks that one to move it; and false, too, if it was moved.
  static bool take_or_ask(Atomic<word>& bucket, Node*& chain) {
    word seen = bucket.load(std::memory_order_relaxed);
    while ((seen & asked) == 0) {
      const bool free = (seen & taken) == 0;
      // Acquire: as take(). Release: that the table grows, to the acquire in requests().
      if (bucket.compare_exchange_strong(seen, free ? taken : seen | asked, std::memory_order_acq_rel,
                                         std::memory_order_relaxed)) {
        chain = node_of(seen);
        return free;
      }
    }
    return false;
  }

  const Same same_;
  const unsigned long_chain_;
  table first_;
  Atomic<table*> current_{&first_};  // of which not all was moved
};

}  // namespace teff::detail
