// The keys that one worker counts: a hash table.
#pragma once

#include <teff/detail/graph/graph_node.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace teff::detail {

// Touched by its worker only.
template <class Key>
class key_table {
  using node = graph_node<Key>;

 public:
  [[nodiscard]] node* find(std::size_t hash, const Key& key) const {
    node* at = buckets_[hash & mask_];
    while (at != nullptr && !(at->hash == hash && equal_keys(at->key, key))) at = at->next;
    return at;
  }
  // Throws std::bad_alloc.
  void insert(node* added) {
    if (size_ > mask_) grow();
    auto*& bucket = bucket_of(*added);
    added->next = bucket;
    bucket = added;
    ++size_;
  }
  void erase(node* gone) noexcept {
    auto** at = &bucket_of(*gone);
    while (*at != gone) at = &(*at)->next;
    *at = gone->next;
    --size_;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Forgets all of them.
  template <class Each>
  void clear(Each each) {
    for (auto*& bucket : buckets_) {
      while (bucket != nullptr) each(std::exchange(bucket, bucket->next));
    }
    size_ = 0;
  }

 private:
  node*& bucket_of(const node& of) noexcept { return buckets_[of.hash & mask_]; }
  [[gnu::noinline]] void grow() {
    std::vector<node*> old(2 * buckets_.size());
    old.swap(buckets_);
    mask_ = buckets_.size() - 1;
    for (node* chain : old) {
      while (chain != nullptr) {
        node* const moved = std::exchange(chain, chain->next);
        auto*& bucket = bucket_of(*moved);
        moved->next = bucket;
        bucket = moved;
      }
    }
  }

  std::vector<node*> buckets_ = std::vector<node*>(64);
  std::size_t mask_ = 63;
  std::size_t size_ = 0;
};

}  // namespace teff::detail
