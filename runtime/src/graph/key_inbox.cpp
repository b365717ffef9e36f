#include <teff/detail/graph/key_inbox.hpp>

#include <algorithm>
#include <cstring>

namespace teff::detail {

void key_inbox::put(const void* message) {
  if (end_ == room_) make_room();
  std::memcpy(at(end_++), message, bytes_);
}

// Messages that were taken before the oldest one make room as soon as they are more than those that are kept.
void key_inbox::make_room() {
  const auto kept = end_ - first_;
  if (first_ > end_ / 2) {
    std::memmove(at(0), at(first_), kept * bytes_);
  } else {
    const auto room = std::max(2 * room_, least_room);
    auto larger = std::make_unique_for_overwrite<std::byte[]>(room * bytes_);
    if (kept != 0) std::memcpy(larger.get(), at(first_), kept * bytes_);
    memory_ = std::move(larger);
    room_ = room;
  }
  first_ = 0;
  end_ = kept;
}

void key_inbox::take(taken_messages& to) noexcept {
  const std::lock_guard lock(mutex_);
  to.count = std::min(most, end_ - first_);
  if (to.count != 0) std::memcpy(to.bytes, at(first_), to.count * bytes_);
  first_ += to.count;
  took();
}

std::size_t key_inbox::take_oldest(taken_messages& to, const same_keys& by) noexcept {
  const std::lock_guard lock(mutex_);
  if (first_ == end_) return 0;
  std::memcpy(to.bytes, at(first_++), bytes_);
  std::size_t same = 1;
  auto kept = first_;
  for (auto each = first_; each != end_; ++each) {
    if (by.equal(by.whom, to.bytes, at(each))) {
      by.drop(by.whom, at(each));
      ++same;
    } else if (kept++ != each) {
      std::memcpy(at(kept - 1), at(each), bytes_);
    }
  }
  end_ = kept;
  to.count = 1;
  took();
  return same;
}

void key_inbox::took() noexcept {
  if (first_ == end_) first_ = end_ = 0;
  count_change();
  count_.store(end_ - first_, std::memory_order_release);
}

}  // namespace teff::detail
