// The state that a graph keeps of a task, and the hash table of the keys that one worker counts.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/ready/ready_queues.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace teff::detail {

// The table that counts the fulfilments of a key (src/graph/README.md). `none`: its task was taken out of the
// table of a worker that did not get to it.
enum class counting : std::uint8_t { own_table, chains, counters, none };

// It exists from its first fulfilment until it has run, or longer; where counters count, since the last
// fulfilment only. It stays in a chain of a table for that time, so that one fulfilment too many finds it.
struct graph_node : runnable {
  counting counted;       // by what its fulfilments were
  std::atomic<bool> ran;  // the task has run; for key_chains
  int received;
  int needed;
  graph_node* next;  // in a chain of a table
  std::size_t hash;  // where counters count, the key's number

  explicit graph_node(runnable_kind of_kind = runnable_kind::task) noexcept : runnable(of_kind) {}
};

// The key lies behind the node, so many bytes after where that begins.
template <class Key>
inline constexpr std::size_t key_at = (sizeof(graph_node) + alignof(Key) - 1) / alignof(Key) * alignof(Key);
template <class Key>
inline constexpr std::size_t node_alignment = alignof(graph_node) > alignof(Key) ? alignof(graph_node)
                                                                                 : alignof(Key);
template <class Key>
inline constexpr std::size_t node_bytes =
    (key_at<Key> + sizeof(Key) + node_alignment<Key> - 1) / node_alignment<Key> * node_alignment<Key>;
template <class Key>
[[nodiscard]] const Key& key_of(const graph_node& node) noexcept {
  return *std::launder(reinterpret_cast<const Key*>(reinterpret_cast<const std::byte*>(&node) + key_at<Key>));
}

// A large array of zeros whose making takes no time: the system gives each page when it is first touched.
struct frees_memory {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
template <class T>
using zeroed_array = std::unique_ptr<T[], frees_memory>;

// Of a scalar type or an atomic one: zero bytes are a T that is zero or null. Throws std::bad_alloc.
template <class T>
zeroed_array<T> make_zeroed(std::size_t size) {
  auto* const memory = static_cast<T*>(std::calloc(size, sizeof(T)));
  if (memory == nullptr) throw_error(std::bad_alloc());
  return zeroed_array<T>(memory);
}

// The keys that one worker counts. Used only by the thread that is in the worker's place. It grows a few
// buckets at a time, so that no fulfilment waits until all keys have moved. Meanwhile a key lies in the old
// table or in the larger one. The first look for a key moves its bucket.
class key_table {
  using node = graph_node;

 public:
  key_table() = default;
  key_table(const key_table&) = delete;
  key_table& operator=(const key_table&) = delete;

  // While the table grows this may not find a key that is there, and find_unmoved() does: apart, so that a
  // fulfilment which finds its key at once saves no registers for the other case.
  //
  // is_it(node): whether the node has that key.
  template <class Is>
  [[nodiscard]] node* find(std::size_t hash, Is is_it) const {
    node* at = buckets_[hash & mask_];
    while (at != nullptr && !(at->hash == hash && is_it(*at))) at = at->next;
    return at;
  }
  // After find() has found no such key.
  template <class Is>
  [[nodiscard]] node* find_unmoved(std::size_t hash, Is is_it) {
    if (old_ == nullptr) [[likely]]
      return nullptr;
    move(hash & mask_ / growth);
    return find(hash, is_it);
  }
  // After neither has found such a key.
  void insert(node* added) noexcept {
    if (size_ > mask_) grow();
    if (old_ != nullptr) [[unlikely]]
      move_some();
    put(added);
    ++size_;
  }
  void erase(node* gone) noexcept {
    if (old_ != nullptr) [[unlikely]]
      return erase_while_growing(gone);
    take_out(gone);
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Forgets all of them.
  template <class Each>
  void clear(Each each) {
    if (size_ == 0) return;
    while (old_ != nullptr) move_some();
    for (std::size_t i = 0; i <= mask_; ++i) {
      while (buckets_[i] != nullptr) each(std::exchange(buckets_[i], buckets_[i]->next));
    }
    size_ = 0;
  }

 private:
  node*& bucket_of(const node& of) noexcept { return buckets_[of.hash & mask_]; }
  void put(node* added) noexcept {
    auto*& bucket = bucket_of(*added);
    added->next = bucket;
    bucket = added;
  }
  void take_out(node* gone) noexcept {
    auto** at = &bucket_of(*gone);
    while (*at != gone) at = &(*at)->next;
    *at = gone->next;
    --size_;
  }
  [[gnu::noinline]] void erase_while_growing(node* gone) noexcept;

  // Not inline, as they are rare.
  [[gnu::noinline]] void grow() noexcept;
  [[gnu::noinline]] void move(std::size_t at) noexcept;
  [[gnu::noinline]] void move_some() noexcept;

  static constexpr std::size_t few = 64;
  static constexpr std::size_t moved_at_once = 4;
  static constexpr std::size_t growth = 4;  // a larger table has so many buckets for each

  node* first_[few] = {};  // so that a small graph allocates none
  zeroed_array<node*> allocated_;
  node** buckets_ = first_;
  std::size_t mask_ = few - 1;
  std::size_t size_ = 0;
  node** old_ = nullptr;  // while the table grows: buckets from `moved_` on may have keys
  std::size_t moved_ = 0;
  zeroed_array<node*> old_allocated_;
};

}  // namespace teff::detail
