// Nodes on their way from any thread to the one that takes them: a stack.
#pragma once

#include <atomic>
#include <utility>

namespace teff::detail {

// A node is linked by its member `next`, which is free for its owner before push() and after take_all().
template <class Node, Node* Node::* next, template <class> class Atomic = std::atomic>
class inbox {
 public:
  void push(Node& node) noexcept {
    auto* newest = newest_.load(std::memory_order_relaxed);
    do {
      node.*next = newest;
      // seq_cst: before the look whether a worker sleeps, against the worker's last look. Release: the node,
      // to take_all().
    } while (
        !newest_.compare_exchange_weak(newest, &node, std::memory_order_seq_cst, std::memory_order_relaxed));
  }
  // The nodes that are there, the oldest first, linked by `next`; or null.
  [[nodiscard]] Node* take_all() noexcept {
    Node* each = take_newest_first();
    Node* oldest = nullptr;
    while (each != nullptr) oldest = std::exchange(each, std::exchange(each->*next, oldest));
    return oldest;
  }
  [[nodiscard]] Node* take_newest_first() noexcept {
    return newest_.exchange(nullptr, std::memory_order_acquire);  // pairs with push()
  }
  // seq_cst: the last look of a worker that is about to sleep.
  [[nodiscard]] bool empty() const noexcept { return newest_.load(std::memory_order_seq_cst) == nullptr; }

 private:
  Atomic<Node*> newest_{nullptr};
};

}  // namespace teff::detail
