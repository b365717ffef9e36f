// The keys that one worker counts: a hash table.
#pragma once

#include <teff/detail/graph/graph_node.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace teff::detail {

// Touched by its worker only.
template <class Key>
class key_table {
  using node = graph_node<Key>;

 public:
  key_table() = default;
  key_table(const key_table&) = delete;
  key_table& operator=(const key_table&) = delete;

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
    if (size_ == 0) return;
    for (std::size_t i = 0; i <= mask_; ++i) {
      while (buckets_[i] != nullptr) each(std::exchange(buckets_[i], buckets_[i]->next));
    }
    size_ = 0;
  }

 private:
  node*& bucket_of(const node& of) noexcept { return buckets_[of.hash & mask_]; }
  [[gnu::noinline]] void grow() {
    const auto old_size = mask_ + 1;
    const auto new_size = 2 * old_size;
    auto larger = std::make_unique<node*[]>(new_size);
    node** const old = std::exchange(buckets_, larger.get());
    mask_ = new_size - 1;
    for (std::size_t i = 0; i < old_size; ++i) {
      for (node* chain = old[i]; chain != nullptr;) {
        node* const moved = std::exchange(chain, chain->next);
        auto*& bucket = bucket_of(*moved);
        moved->next = bucket;
        bucket = moved;
      }
    }
    allocated_ = std::move(larger);
  }

  static constexpr std::size_t few = 64;

  node* first_[few] = {};  // so that a small graph allocates none
  std::unique_ptr<node*[]> allocated_;
  node** buckets_ = first_;
  std::size_t mask_ = few - 1;
  std::size_t size_ = 0;
};

}  // namespace teff::detail
