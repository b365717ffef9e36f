#include <teff/detail/graph/key_table.hpp>

namespace teff::detail {

void key_table::erase_while_growing(node* gone) noexcept {
  move(gone->hash & mask_ / growth);
  take_out(gone);
}

// A table of which not all was moved is not crowded: moved_at_once buckets were for each key since. Without
// memory it stays as it is, and its chains get longer.
void key_table::grow() noexcept {
  zeroed_array<node*> larger;
  catch_all([&] { larger = make_zeroed<node*>(growth * (mask_ + 1)); }, [] {});
  if (larger.get() == nullptr) return;
  old_ = std::exchange(buckets_, larger.get());
  old_allocated_ = std::exchange(allocated_, std::move(larger));
  mask_ = growth * (mask_ + 1) - 1;
  moved_ = 0;
}

// A bucket of the old table.
void key_table::move(std::size_t at) noexcept {
  for (node* chain = std::exchange(old_[at], nullptr); chain != nullptr;)
    put(std::exchange(chain, chain->next));
}

void key_table::move_some() noexcept {
  for (const auto end = moved_ + moved_at_once; moved_ < end; ++moved_) move(moved_);
  if (moved_ <= mask_ / growth) {
    // The keys that come next are in memory, and each is read for its hash.
    for (auto at = moved_; at < moved_ + moved_at_once; ++at) __builtin_prefetch(old_[at]);
    return;
  }
  old_ = nullptr;
  old_allocated_ = {};
}

}  // namespace teff::detail
