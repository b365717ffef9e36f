// The pieces of the dependence system on their interleavings. A task begins once, and not before the groups
// that it waits for have ended. A lock has one holder. Turns come in order.
#include <gtest/gtest.h>
#include <teff/detail/flow/access_group.hpp>

#include "interleavings.hpp"

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace teff::test {
namespace {

using checked::checker;
using checked::plain;

// Two steps instead of one read-modify-write.
template <class T>
struct not_atomic : checked::atomic<T> {
  using checked::atomic<T>::atomic;
  T fetch_sub(T value, std::memory_order order) {
    const T old = this->load(std::memory_order_acquire);
    checked::atomic<T>::store(old - value,
                              order == std::memory_order_relaxed ? order : std::memory_order_seq_cst);
    return old;
  }
  T exchange(T value, std::memory_order) {
    const T old = this->load(std::memory_order_acquire);
    checked::atomic<T>::store(value, std::memory_order_seq_cst);
    return old;
  }
};

// ---- A writer, readers after it, a writer after them ----

struct waiting_task {
  waiting_task* next = nullptr;
  int number = 0;
};

template <template <class> class Atomic>
struct written_and_read {
  struct group {
    detail::release_list<waiting_task, Atomic> waiting;
    detail::open_count<Atomic> members;
  };
  group first;    // the first writer, which a worker runs from the start
  group readers;  // tasks 0 and 1
  std::array<waiting_task, 3> tasks{{{nullptr, 0}, {nullptr, 1}, {nullptr, 2}}};
  std::array<detail::open_count<Atomic>, 3> missing;
  std::array<plain, 2> value;  // for each reader: to the checker, two reads are a race
  std::array<plain, 2> reads;
  int last_ran = 0;

  void tell(waiting_task* list) {
    while (list != nullptr) {
      auto* const each = std::exchange(list, list->next);
      if (missing[static_cast<std::size_t>(each->number)].end_one()) run(each->number);
    }
  }
  void end_reader() {
    if (readers.members.end_one()) tell(readers.waiting.release());
  }
  void run(int task) {
    if (task < 2) {
      if (value[static_cast<std::size_t>(task)].read() != 1)
        checker::fail("a reader began before the writer had ended");
      reads[static_cast<std::size_t>(task)].write(1);
      return end_reader();
    }
    for (auto& each : reads)
      if (each.read() != 1) checker::fail("a writer began before the readers had ended");
    for (auto& each : value) each.write(2);
    ++last_ran;
  }
  void add(int task, group& after) {
    const bool waits = after.waiting.add(tasks[static_cast<std::size_t>(task)]);
    if (!waits || missing[static_cast<std::size_t>(task)].close(1)) run(task);
  }
};

// `counts_wrongly`: the creator closes the group of two readers with a total of one.
template <template <class> class Atomic>
checker::outcome check_groups(int preemptions, bool counts_wrongly = false) {
  using world = written_and_read<Atomic>;
  return checked::check_threads<world>(
      [] { return std::make_shared<world>(); },
      {[](world& all) {  // a worker, which runs the first writer
         for (auto& each : all.value) each.write(1);
         all.tell(all.first.waiting.release());
       },
       [counts_wrongly](world& all) {  // the creator
         all.add(0, all.first);
         all.add(1, all.first);
         if (all.readers.members.close(counts_wrongly ? 1 : 2)) all.tell(all.readers.waiting.release());
         all.add(2, all.readers);
       }},
      [](world& all) {
        if (all.last_ran != 1)
          checker::fail("the last writer ran " + std::to_string(all.last_ran) + " times");
      },
      preemptions);
}

TEST(flow_model, readers_wait_for_the_writer_before_them_and_the_next_writer_for_them) {
  expect_no_fault(check_groups<checked::atomic>(4));
}
TEST(flow_model, finds_an_end_that_is_not_released) {
  EXPECT_NE(check_groups<checked::without_release>(4).fault, "");
}
TEST(flow_model, finds_a_release_that_is_not_acquired) {
  EXPECT_NE(check_groups<checked::without_acquire>(4).fault, "");
}
TEST(flow_model, finds_a_count_that_is_not_atomic) {
  EXPECT_NE(check_groups<not_atomic>(4).fault, "");
}
TEST(flow_model, finds_a_group_that_is_closed_with_a_wrong_total) {
  EXPECT_NE(check_groups<checked::atomic>(4, true).fault, "");
}

// ---- Locks ----

template <template <class> class Atomic>
checker::outcome check_lock(int preemptions) {
  struct world {
    detail::handed_lock<waiting_task, Atomic> lock;
    std::array<waiting_task, 3> tasks{{{nullptr, 0}, {nullptr, 1}, {nullptr, 2}}};
    plain guarded;
    plain ran;
    int updates = 0;

    void hold() {
      for (const waiting_task* held = tasks.data(); held != nullptr; held = lock.hand_on()) {
        guarded.write(guarded.read() + 1);
        ++updates;
      }
    }
    void want(std::size_t task) {
      if (lock.take(tasks[task])) hold();
    }
  };
  return checked::check_threads<world>(
      [] { return std::make_shared<world>(); },
      {[](world& all) { all.want(0); }, [](world& all) { all.want(1); }, [](world& all) { all.want(2); }},
      [](world& all) {
        if (all.updates != 3) checker::fail("a task was forgotten");
      },
      preemptions);
}

TEST(flow_model, a_lock_has_one_holder_and_forgets_no_task) {
  expect_no_fault(check_lock<checked::atomic>(3));
}
TEST(flow_model, finds_a_lock_that_is_not_acquired) {
  EXPECT_NE(check_lock<checked::without_acquire>(3).fault, "");
}
TEST(flow_model, finds_a_lock_whose_waiters_are_taken_in_two_steps) {
  EXPECT_NE(check_lock<not_atomic>(3).fault, "");
}

// ---- Turns ----

template <template <class> class Atomic>
checker::outcome check_turns(int preemptions) {
  struct world {
    std::array<detail::turn_taker<Atomic>, 3> row;
    plain combined;
    int turns = 0;

    void take(detail::turn_taker<Atomic>& first) {
      for (auto* each = &first; each != nullptr;) {
        const int number = static_cast<int>(each - row.data());
        if (combined.read() != number) checker::fail("not in order");
        combined.write(number + 1);
        ++turns;
        auto* const next = each->pass();
        each = next != nullptr && next->reach() ? next : nullptr;
      }
    }
    void done(std::size_t member) {
      if (row[member].done()) take(row[member]);
    }
    void follow(std::size_t next) {
      if (row[next - 1].follow(row[next]) && row[next].reach()) take(row[next]);
    }
  };
  return checked::check_threads<world>([] { return std::make_shared<world>(); },
                                       {[](world& all) {
                                          all.done(1);
                                          all.done(0);
                                        },
                                        [](world& all) { all.done(2); },
                                        [](world& all) {
                                          all.follow(1);
                                          if (all.row[0].reach()) all.take(all.row[0]);
                                          all.follow(2);
                                        }},
                                       [](world& all) {
                                         if (all.turns != 3)
                                           checker::fail(std::to_string(all.turns) + " turns");
                                       },
                                       preemptions);
}

TEST(flow_model, turns_come_once_and_in_order) {
  expect_no_fault(check_turns<checked::atomic>(3));
}
TEST(flow_model, finds_turns_that_are_not_released) {
  EXPECT_NE(check_turns<checked::without_release>(3).fault, "");
}
TEST(flow_model, finds_turns_that_are_given_in_two_steps) {
  EXPECT_NE(check_turns<not_atomic>(3).fault, "");
}

}  // namespace
}  // namespace teff::test
