// The places of a task source on their interleavings: no two threads use the tables of one place at a time.
#include <gtest/gtest.h>
#include <teff/detail/task_source/places.hpp>

#include "interleavings.hpp"

#include <array>
#include <cstdint>
#include <memory>

namespace teff::test {
namespace {

using checked::checker;

enum class fault { none, enters_without_a_look, takes_without_a_fence, takes_without_a_look };

// Place 0 of two workers, and a thread that closes the places.
struct world {
  struct account {
    checked::atomic<std::uint32_t> inside{0};
    checked::atomic<std::uint32_t> holder{detail::closed_place};
  };
  explicit world(fault seeded) : with(seeded) { detail::open_places(accounts); }

  bool use(unsigned worker) {
    if (with == fault::enters_without_a_look) {
      accounts[worker].inside.store(1, std::memory_order_relaxed);
    } else if (!detail::enter_place(accounts, 0, worker, [] {})) {
      return false;
    }
    table.write(table.read() + 1);
    detail::leave_place(accounts, worker);
    return true;
  }
  bool take(unsigned worker) {
    if (with == fault::takes_without_a_look) {
      accounts[0].holder.store(worker);
      return true;
    }
    return detail::take_place(accounts, 0, worker, [this] {
      if (with != fault::takes_without_a_fence) checked::barrier_everywhere();
    });
  }
  // The worker of the place: uses it, and takes it back when it has lost it, as task_source_base::enter().
  void own() {
    bool has_place = true;
    for (int i = 0; i < 3; ++i) has_place = (has_place || take(0)) && use(0);
  }
  void offer() {
    if (use(0)) detail::offer_place(accounts, 0, 0);
    if (take(0)) use(0);
  }
  void thief() {
    if (take(1) && use(1)) use(1);
  }
  void visitor() {
    detail::close_places(
        accounts, [] { checked::barrier_everywhere(); },
        [](auto nobody_is_there) {
          while (!nobody_is_there()) checker::now().pause();
        });
    table.write(0);
    detail::open_places(accounts);
  }

  const fault with;
  std::array<account, 2> accounts;
  checked::plain table;
};

checker::outcome check(const std::vector<std::function<void(world&)>>& threads, fault with = fault::none) {
  return checked::check_threads<world>([with] { return std::make_shared<world>(with); }, threads,
                                       [](world&) {}, 3);
}

TEST(places_model, a_place_is_used_by_one_thread_at_a_time) {
  expect_no_fault(check({&world::own, &world::thief}), 1000);
  expect_no_fault(check({&world::offer, &world::thief}), 1000);
}

TEST(places_model, a_thread_that_closes_the_places_is_alone) {
  expect_no_fault(check({&world::own, &world::thief, &world::visitor}), 1000);
}

TEST(places_model, finds_a_worker_that_enters_without_a_look_at_the_holder) {
  EXPECT_NE(check({&world::own, &world::thief}, fault::enters_without_a_look).fault, "");
}

TEST(places_model, finds_a_worker_that_takes_a_place_without_a_fence) {
  EXPECT_NE(check({&world::own, &world::thief}, fault::takes_without_a_fence).fault, "");
}

TEST(places_model, finds_a_worker_that_takes_a_place_in_which_another_one_is) {
  EXPECT_NE(check({&world::own, &world::thief}, fault::takes_without_a_look).fault, "");
}

}  // namespace
}  // namespace teff::test
