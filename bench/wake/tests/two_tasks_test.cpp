#include "teff/wake/two_tasks.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

namespace teff::wake {
namespace {

/// Each task runs on a separate thread.
struct threads {
  struct tasks {
    std::vector<std::jthread> all;
    template <class Function>
    void spawn(Function function) {
      all.emplace_back(function);
    }
  };
  template <class Body>
  static void scope(Body body) {
    tasks spawned;
    body(spawned);
  }
};

/// The same with pairs of tasks only.
struct pairs {
  template <class First, class Second>
  static auto fork2(First first, Second second) {
    decltype(first()) a;
    decltype(second()) b;
    {
      const std::jthread other([&] { a = first(); });
      b = second();
    }
    return std::pair(a, b);
  }
};

/// A worker that has to do all by itself.
struct alone {
  struct tasks {
    template <class Function>
    void spawn(Function function) {
      function();
    }
  };
  template <class Body>
  static void scope(Body body) {
    tasks spawned;
    body(spawned);
  }
};

TEST(two_tasks, are_timed_until_the_second_has_begun_on_another_worker) {
  const auto scoped = seconds_to_another_worker<threads>(seconds(60));
  ASSERT_TRUE(scoped.has_value());
  EXPECT_GT(*scoped, 0);
  const auto paired = seconds_to_another_worker<pairs>(seconds(60));
  ASSERT_TRUE(paired.has_value());
  EXPECT_GT(*paired, 0);
}

TEST(two_tasks, on_a_single_worker_end_without_a_time) {
  EXPECT_FALSE(seconds_to_another_worker<alone>(seconds(0)).has_value());
}

TEST(meeting_point, forgets_who_comes_after_the_first_has_left) {
  meeting_point both(seconds(0));
  both.arrive();
  both.arrive();
  EXPECT_FALSE(both.second().has_value());
}

}  // namespace
}  // namespace teff::wake
