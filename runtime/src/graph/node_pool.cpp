#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/node_pool.hpp>

#include <algorithm>

namespace teff::detail {

node_exchange::~node_exchange() {
  for (void* each : slabs_) ::operator delete(each, alignment_);
}

node_exchange::fetched node_exchange::take() {
  std::size_t size = batch;
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
    if (batches_ != nullptr) return {std::exchange(batches_, batches_->next_batch), batch};
    size = std::exchange(next_slab_, std::min(2 * next_slab_, batch));
  }
  auto* const slab = static_cast<std::byte*>(::operator new(size * bytes_, alignment_));
  free_node* first = nullptr;
  for (std::size_t i = size; i-- != 0;) first = new (slab + i * bytes_) free_node{first};
  undo_if_thrown(
      [&] {
        const std::lock_guard lock(mutex_);
        slabs_.push_back(slab);
      },
      [&] { ::operator delete(slab, alignment_); });
  return {first, size};
}

bool node_exchange::give(free_node* chain) noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock) batches_ = new (chain) free_batch{{chain->next}, batches_};
  return lock.owns_lock();
}

void node_pool::fetch() {
  if (full_ != nullptr) {
    free_ = std::exchange(full_, nullptr);
    count_ = node_exchange::batch;
  } else {
    const auto [first, nodes] = exchange_.take();
    free_ = first;
    count_ = static_cast<std::ptrdiff_t>(nodes);
  }
}

void node_pool::put_aside() noexcept {
  if (full_ != nullptr && !exchange_.give(full_)) return;
  full_ = std::exchange(free_, nullptr);
  count_ = 0;
}

}  // namespace teff::detail
