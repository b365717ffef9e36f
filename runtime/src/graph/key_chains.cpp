#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/key_chains.hpp>
#include <teff/detail/scheduler/spin_lock.hpp>

#include <memory>

namespace teff::detail {

struct key_chains::larger_table : private zeroed_array<std::atomic<word>>, public table {
  explicit larger_table(std::size_t buckets)
      : zeroed_array<std::atomic<word>>(make_zeroed<std::atomic<word>>(buckets)),
        table(zeroed_array<std::atomic<word>>::get(), buckets, 0) {}
};

key_chains::~key_chains() {
  for (table* each = first_.next.load(std::memory_order_acquire); each != nullptr;)
    delete static_cast<larger_table*>(std::exchange(each, each->next.load(std::memory_order_acquire)));
}

key_chains::word key_chains::untaken(const std::atomic<word>& bucket) noexcept {
  for (int look = 0;; ++look) {
    // Acquire: as in take().
    const word seen = bucket.load(std::memory_order_acquire);
    if ((seen & taken) == 0) return seen;
    relax_or_yield(look);
  }
}

void key_chains::grow(std::size_t keys) noexcept {
  table& of = *current_.load(std::memory_order_acquire);
  // Not again before all is moved: a thread looks for a bucket in two tables at most.
  if (keys <= of.mask + 1 || of.next.load(std::memory_order_relaxed) != nullptr) return;
  std::unique_ptr<larger_table> larger;
  catch_all([&] { larger = std::make_unique<larger_table>(growth * (of.mask + 1)); }, [] {});
  table* none = nullptr;
  // Release: the empty table, to the thread that reads `next`.
  if (larger != nullptr && of.next.compare_exchange_strong(none, larger.get(), std::memory_order_release,
                                                           std::memory_order_relaxed))
    static_cast<void>(larger.release());
}

// No thread looks in the larger table for a key of a bucket before that says `moved`.
void key_chains::move_some(table& of) noexcept {
  table& into = *of.next.load(std::memory_order_acquire);
  const auto from = of.to_move.fetch_add(moved_at_once, std::memory_order_relaxed);
  for (auto at = from; at < from + moved_at_once && at <= of.mask; ++at) {
    std::atomic<word>* bucket = nullptr;
    node* chain = nullptr;
    static_cast<void>(take(of.bucket(at), bucket, chain));  // nobody else moves it
    while (chain != nullptr) {
      node* const each = std::exchange(chain, chain->next);
      auto& part = into.bucket(each->hash);
      each->next = node_of(part.load(std::memory_order_relaxed));
      part.store(word_of(each), std::memory_order_relaxed);
    }
    // Release: the buckets above, to the acquire of the thread that sees `moved`.
    bucket->store(moved, std::memory_order_release);
    // Release and acquire: the thread that moved the last one hands on what all have moved.
    if (of.left.fetch_sub(1, std::memory_order_acq_rel) == 1)
      current_.store(&into, std::memory_order_release);  // to a thread that begins there
  }
}

}  // namespace teff::detail
