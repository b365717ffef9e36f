// A table of the ranks that a rank talks to.
#pragma once

#include <teff/detail/scheduler/spin_lock.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace teff::detail {

// A T for each rank that a thread has asked for. It takes memory for these ranks alone, however many ranks
// the job has. A T stays where it is as long as the table lives. Any thread may call any function.
//
// The entries are a tree. The lowest digit of a rank says which link of the root to follow. The next digit
// says so for the entry that lies there, until that is the rank's own. A link that is set never changes, so a
// look-up takes no lock.
template <class T>
class rank_table {
 public:
  rank_table() = default;
  rank_table(const rank_table&) = delete;
  rank_table& operator=(const rank_table&) = delete;
  ~rank_table() {
    while (newest_) newest_ = std::move(newest_->before);
  }

  // Makes T() if there is none of that rank yet. Throws std::bad_alloc.
  [[nodiscard]] T& at(int rank) {
    auto* const found = find(rank);
    return found != nullptr ? *found : make(rank);
  }
  // Null: there is none.
  [[nodiscard]] T* find(int rank) noexcept {
    auto* const found = link_to(rank).load(std::memory_order_acquire);
    return found == nullptr ? nullptr : &found->value;
  }
  // Calls use(rank, T) for each. If a T is made too late to be among them, all threads that get it see what
  // the caller has done before.
  template <class Use>
  void each(Use use) {
    const auto newest = [this] {
      const std::lock_guard lock(making_);  // either before make() or after it, which sees what came before
      return newest_.get();
    };
    for (auto* at = newest(); at != nullptr; at = at->before.get()) use(at->rank, at->value);
  }

 private:
  static constexpr unsigned width = 8;
  struct entry;
  using links = std::array<std::atomic<entry*>, width>;
  struct alignas(64) entry {
    entry(int of, std::unique_ptr<entry> made_before) noexcept : rank(of), before(std::move(made_before)) {}
    const int rank;
    std::unique_ptr<entry> before;
    T value{};
    links next{};
  };

  // The link that leads to the rank's entry; if there is none, the link that is to do so.
  [[nodiscard]] std::atomic<entry*>& link_to(int rank) noexcept {
    auto* from = &root_;
    for (auto digits = static_cast<unsigned>(rank);; digits /= width) {
      auto& link = (*from)[digits % width];
      // Acquire: the entry; pairs with make().
      auto* const to = link.load(std::memory_order_acquire);
      if (to == nullptr || to->rank == rank) return link;
      from = &to->next;
    }
  }
  [[gnu::noinline]] T& make(int rank) {
    const std::lock_guard lock(making_);
    auto& link = link_to(rank);
    if (auto* const found = link.load(std::memory_order_relaxed)) return found->value;
    newest_ = std::make_unique<entry>(rank, std::move(newest_));
    link.store(newest_.get(), std::memory_order_release);
    return newest_->value;
  }

  links root_{};
  spin_lock making_;  // guards what follows
  std::unique_ptr<entry> newest_;
};

}  // namespace teff::detail
