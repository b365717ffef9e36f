#include "teff/spawn/spawn_patterns.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace {

using namespace teff::spawn;

/// A system that runs each task where it is spawned.
struct direct {
  struct tasks {
    template <class Function>
    void spawn(Function function) {
      function();
    }
  };
  template <class Body>
  static void scope(Body body) {
    tasks all;
    body(all);
  }
  template <class First, class Second>
  static auto fork2(First first, Second second) {
    auto a = first();
    return std::pair(a, second());
  }
};

/// The same, with a fork of closures without a value.
struct direct_void : direct {
  static inline int forks = 0;
  template <class First, class Second>
  static void fork2_void(First first, Second second) {
    ++forks;
    first();
    second();
  }
};

/// Loses the first task that is spawned.
struct dropping {
  static inline bool dropped = false;
  struct tasks {
    template <class Function>
    void spawn(Function function) {
      if (std::exchange(dropped, true)) function();
    }
  };
  template <class Body>
  static void scope(Body body) {
    tasks all;
    body(all);
  }
  static void spawn_each(std::int64_t count, auto function) {
    for (std::int64_t i = 1; i < count; ++i) function(i);
  }
  template <class First, class Second>
  static auto fork2(First first, Second second) {
    auto a = std::exchange(dropped, true) ? first() : decltype(first())();
    return std::pair(a, second());
  }
};

/// Runs the first task twice and the last not at all.
struct doubling {
  static void spawn_each(std::int64_t count, auto function) {
    function(0);
    for (std::int64_t i = 0; i + 1 < count; ++i) function(i);
  }
};

template <class System>
std::string verdict(const std::string& line) {
  const work asked = parse_work(line);
  reset_null_tasks();
  result found = run_pattern<System>(asked);
  found.null_tasks = null_tasks_run();
  return difference(asked, found, expected(asked));
}

constexpr const char* lines[] = {"--pattern serial --tasks 100", "--pattern parallel --tasks 100",
                                 "--pattern fibonacci --n 12 --spawn both",
                                 "--pattern fibonacci --n 12 --spawn one",
                                 "--pattern tree --tree T1 --depth 4"};

TEST(null_tasks, of_other_processes_are_counted_with_those_of_this_one) {
  reset_null_tasks();
  null_task(3);
  add_null_tasks({2, 9});
  EXPECT_EQ(null_tasks_run(), (null_counts{3, 12}));
}

TEST(spawn_patterns, come_out_as_expected_of_a_system_that_does_its_work) {
  for (const char* line : lines) EXPECT_EQ(verdict<direct>(line), "") << line;
}

TEST(spawn_patterns, halving_forks_closures_without_a_value_where_the_system_can) {
  direct_void::forks = 0;
  EXPECT_EQ(verdict<direct_void>("--pattern parallel --tasks 100"), "");
  EXPECT_EQ(direct_void::forks, 99);
}

TEST(spawn_patterns, a_dropped_task_is_caught_in_every_pattern) {
  for (const char* line : lines) {
    dropping::dropped = false;
    EXPECT_NE(verdict<dropping>(line), "") << line;
  }
}

TEST(spawn_patterns, a_task_in_the_place_of_another_is_caught) {
  EXPECT_NE(verdict<doubling>("--pattern parallel --tasks 100").find("twice"), std::string::npos);
}

TEST(spawn_patterns, a_pattern_that_a_system_does_not_offer_is_named) {
  EXPECT_EQ(missing<doubling>(parse_work("--pattern parallel")), "");
  for (const char* line : {lines[0], lines[2], lines[3], lines[4]})
    EXPECT_NE(missing<doubling>(parse_work(line)), "") << line;
  for (const char* line : lines) EXPECT_EQ(missing<direct>(parse_work(line)), "") << line;
}

}  // namespace
