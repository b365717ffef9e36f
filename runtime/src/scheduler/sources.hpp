// The sources of work that the workers of one runtime look at, and how a worker looks (README, "Sources").
#pragma once

#include <teff/detail/scheduler/source.hpp>

#include "platform/bell.hpp"
#include "platform/futex.hpp"
#include "scheduler/activities.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace teff::detail {

// A table of slots, which all workers read and none copies. A worker says which source it looks at, then
// looks whether the source is still in its slot. A thread that removes a source takes it out of the slot,
// then waits for the workers that look at it. So no worker uses it when remove() returns (README, "Sources").
class sources {
 public:
  explicit sources(unsigned workers) : looking_(workers) {}

  // Throws std::bad_alloc.
  void add(std::shared_ptr<source> added) {
    const std::lock_guard lock(mutex_);
    while (first_free_ < slots_ && slot_of(first_free_).owner != nullptr) ++first_free_;
    if (first_free_ == slots_) {
      const auto size = slots_ + first_block;
      blocks_[std::bit_width(size / first_block) - 1] = std::make_unique<slot[]>(size);
      slots_ += size;
    }
    const std::size_t at = first_free_++;
    added->being_detached_.store(false, std::memory_order_relaxed);
    added->slot_ = at;
    // Release: the source, to the acquire in look_at().
    slot_of(at).current.store(added.get(), std::memory_order_release);
    slot_of(at).owner = std::move(added);
    // seq_cst: before the look at sleepers of a thread that brings the source something. A worker that found
    // the table empty after it had said that it sleeps is seen by that look.
    if (at >= end_.load(std::memory_order_relaxed)) end_.store(at + 1, std::memory_order_seq_cst);
  }

  // No worker uses the source when this returns. Not to be called within that source's functions.
  void remove(const source& removed) noexcept {
    std::shared_ptr<source> owner;
    {
      const std::lock_guard lock(mutex_);
      auto& left = slot_of(removed.slot_);
      // seq_cst: before the looks at `looking_` below. Of this and a worker that looks, one sees the other.
      left.current.store(nullptr, std::memory_order_seq_cst);
      left.owner->being_detached_.store(true, std::memory_order_relaxed);
      owner = std::move(left.owner);
      first_free_ = std::min(first_free_, removed.slot_);
      auto end = end_.load(std::memory_order_relaxed);
      while (end != 0 && slot_of(end - 1).owner == nullptr) --end;
      end_.store(end, std::memory_order_relaxed);
    }
    for (const auto& each : looking_) {
      // Acquire, as part of seq_cst: all that the worker did with the source.
      while (each.at.load(std::memory_order_seq_cst) == &removed) std::this_thread::yield();
    }
  }

  // seq_cst: after the caller has said that it sleeps, against add().
  [[nodiscard]] bool empty() const noexcept { return end_.load(std::memory_order_seq_cst) == 0; }

  // Whether there may be more than one. A hint.
  [[nodiscard]] bool may_be_several() const noexcept { return end_.load(std::memory_order_relaxed) > 1; }

  // Calls visit(source) for each, from the place after the one where `next` was on, until it returns true;
  // returns whether it did, and leaves in `next` where to go on. `visit` may look again.
  template <class Visit>
  bool any_of(unsigned worker, std::size_t& next, Visit visit) {
    auto& mine = looking_[worker].at;
    const source* const outer = mine.load(std::memory_order_relaxed);
    bool found = false;
    // Acquire: the slots. The number may be out of date: a thread that adds a source and brings it something
    // wakes the worker by the gate, or is seen by its last look.
    const auto end = end_.load(std::memory_order_acquire);
    for (std::size_t i = 0, at = next; i < end && !found; ++i) {
      if (at >= end) at = 0;
      auto& in = slot_of(at++);
      source* const each = in.current.load(std::memory_order_relaxed);
      if (each == nullptr) continue;
      // seq_cst, both: against remove().
      mine.store(each, std::memory_order_seq_cst);
      if (in.current.load(std::memory_order_seq_cst) == each) found = visit(*each);
      next = at;
      // Release: pairs with the acquire in remove().
      mine.store(outer, std::memory_order_release);
    }
    return found;
  }

 private:
  struct slot {
    std::atomic<source*> current{nullptr};
    std::shared_ptr<source> owner;  // guarded by the mutex
  };
  // Slots come in blocks of 32, 64, 128, ..., so that none moves.
  static constexpr std::size_t first_block = 32;
  [[nodiscard]] slot& slot_of(std::size_t at) noexcept {
    const auto block = static_cast<std::size_t>(std::bit_width(at / first_block + 1)) - 1;
    return blocks_[block][at - first_block * ((std::size_t{1} << block) - 1)];
  }

  struct alignas(64) looking {
    std::atomic<const source*> at{nullptr};
  };
  std::vector<looking> looking_;  // by worker: the source at which it looks
  std::mutex mutex_;
  std::unique_ptr<slot[]> blocks_[48];
  std::size_t slots_ = 0;
  std::size_t first_free_ = 0;  // no slot before it is free
  alignas(64) std::atomic<std::size_t> end_{0};
};

// How one worker looks at them. Used by the thread that is the worker.
class source_view {
 public:
  source_view(sources& all, unsigned worker) noexcept
      : all_(all), worker_(worker), sleeper_(next_sleeper()) {}

  // Calls visit(source) for each, from the source after the last one on, until it returns true. Returns
  // whether it did. `visit` may look again.
  template <class Visit>
  bool any_of(Visit visit) {
    return all_.any_of(worker_, next_, visit);
  }
  // any_of() begins where it would have.
  [[nodiscard]] bool sees_work(may_run limit) noexcept {
    auto at = next_;
    return all_.any_of(worker_, at, [&](source& each) {
      return limit == may_run::own_work ? each.sees_own_work(worker_) : each.sees_work(worker_);
    });
  }

  // ---- Sources that are to be polled ----

  // The earliest time for which a source asks; `never` if none does.
  [[nodiscard]] polled_source::poll_time next_poll() noexcept {
    auto earliest = futex::never;
    any_polled([&](polled_source& each) {
      if (const auto at = each.next_poll()) earliest = std::min(earliest, *at);
      return false;
    });
    return earliest;
  }
  // Polls each whose time has come. Returns whether one of them found work.
  bool poll(polled_source::poll_time now) noexcept {
    bool found = false;
    any_polled([&](polled_source& each) {
      const within poll;
      if (const auto at = each.next_poll(); at && *at <= now) found |= each.poll(worker_);
      return false;
    });
    return found;
  }
  // Whether a source that is to be polled has work for the worker.
  [[nodiscard]] bool sees_polled_work() noexcept {
    return any_polled([this](polled_source& each) { return each.sees_work(worker_); });
  }
  // Registers with the bells of all sources. False: they are too many to sleep on.
  [[nodiscard]] bool listen(doorbells& bells) noexcept {
    return !any_polled([&](polled_source& each) {
      const auto bell = each.listen(sleeper_);
      return bell && !bells.add(*bell);
    });
  }
  // The worker is awake: a bell would wake its own thread in vain.
  void rise() noexcept {
    any_polled([&](polled_source& each) {
      each.rise(sleeper_);
      return false;
    });
  }

 private:
  static std::uint32_t next_sleeper() noexcept {
    static std::atomic<std::uint32_t> next{bell<futex>::first_sleeper};
    return next.fetch_add(1, std::memory_order_relaxed);
  }
  template <class Visit>
  bool any_polled(Visit visit) noexcept {
    return any_of([&](source& each) {
      auto* const polled = each.polled();
      return polled != nullptr && visit(*polled);
    });
  }

  sources& all_;
  const unsigned worker_;
  const std::uint32_t sleeper_;  // the worker's number to bells
  std::size_t next_ = 0;         // where it looks first
};

}  // namespace teff::detail
