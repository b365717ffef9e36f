// Which worker uses the tables of a place (src/task_source/places.md). A worker is in one place at a time.
//
// tests/places_model_test.cpp checks this very code.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace teff::detail {

// The holder of a place that no worker may enter (closed), or that any worker may take (offered).
inline constexpr std::uint32_t closed_place = ~0U;
inline constexpr std::uint32_t offered_place = ~0U - 1;

// Of an element of `Accounts`: `holder` names the worker that may enter the place of this index; `inside` is
// the place that the worker of this index is in, plus one, or 0.

// Worker `worker` is about to use the tables of the place. False: it does not hold the place. `fence()` keeps
// the store before the load, against everywhere() of take_place() and close_places().
template <class Accounts, class Fence>
[[nodiscard]] bool enter_place(Accounts& accounts, unsigned place, unsigned worker, Fence fence) noexcept {
  auto& inside = accounts[worker].inside;
  inside.store(place + 1, std::memory_order_relaxed);
  fence();
  // Acquire: pairs with the release in open_places().
  if (accounts[place].holder.load(std::memory_order_acquire) == worker) [[likely]]
    return true;
  inside.store(0, std::memory_order_release);
  return false;
}

template <class Accounts>
void leave_place(Accounts& accounts, unsigned worker) noexcept {
  // Release: all that the worker did there, to the acquire in take_place() and close_places().
  accounts[worker].inside.store(0, std::memory_order_release);
}

// The worker, which is in no place, wants to hold the place. False: it is to call this again, since another
// worker is in the place, or the place is closed. `everywhere()` has every core execute a full fence.
template <class Accounts, class Everywhere>
[[nodiscard]] bool take_place(Accounts& accounts, unsigned place, unsigned worker,
                              Everywhere everywhere) noexcept {
  auto& holder = accounts[place].holder;
  auto before = holder.load(std::memory_order_relaxed);
  if (before == closed_place) return false;
  if (before != worker) {
    // Acquire: pairs with offer_place().
    if (!holder.compare_exchange_strong(before, worker, std::memory_order_acq_rel, std::memory_order_relaxed))
      return false;
    if (before == offered_place) return true;
    everywhere();  // another worker sees the new holder when it enters, or is seen here
  }
  // Acquire: pairs with leave_place().
  return std::ranges::none_of(
      accounts, [&](const auto& each) { return each.inside.load(std::memory_order_acquire) == place + 1; });
}

// The holder, which has left the place, will not use it for a while: any worker may take it at once.
template <class Accounts>
void offer_place(Accounts& accounts, unsigned place, unsigned worker) noexcept {
  auto holder = worker;
  // Release: all that the holder did there, to the acquire in take_place(). It fails if the place was taken.
  accounts[place].holder.compare_exchange_strong(holder, offered_place, std::memory_order_release,
                                                 std::memory_order_relaxed);
}

// When it returns, no worker is in any place, or will be before open_places(). One thread at a time.
template <class Accounts, class Everywhere, class Wait>
void close_places(Accounts& accounts, Everywhere everywhere, Wait wait) noexcept {
  for (auto& each : accounts) each.holder.store(closed_place, std::memory_order_relaxed);
  everywhere();
  for (auto& each : accounts)
    // Acquire: pairs with leave_place().
    wait([&] { return each.inside.load(std::memory_order_acquire) == 0; });
}

// Each worker holds its own place again.
template <class Accounts>
void open_places(Accounts& accounts) noexcept {
  std::uint32_t worker = 0;
  // Release: all that the thread did in the places, to the acquire in enter_place().
  for (auto& each : accounts) each.holder.store(worker++, std::memory_order_release);
}

// How long another worker has begun no task. Used by the worker that asks.
struct place_watch {
  unsigned place;           // whose worker is watched
  std::uint64_t steps = 0;  // that it had done then:
  std::int64_t since = 0;
  std::int64_t looked_at = 0;
  bool stands = false;  // at the last look, it had begun no task since, or had offered its place
};

}  // namespace teff::detail
