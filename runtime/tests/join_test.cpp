#include "workers.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>

namespace teff::test {
namespace {

TEST(join, returns_both_values_on_any_number_of_workers) {
  on_runtimes([](runtime& rt) { EXPECT_EQ(rt.run([] { return fib(20); }), 6765); });
}

TEST(join, outside_a_runtime_runs_on_the_default_one) {
  std::atomic<int> elsewhere{0};
  const auto look = [&] {
    elsewhere +=
        detail::this_worker().runtime != &detail::private_access::internals(default_runtime()) ? 1 : 0;
  };
  join(look, look);
  join(look, [&] { join(look, look); }, look);
  EXPECT_EQ(elsewhere, 0);
  EXPECT_EQ(detail::this_worker().runtime, nullptr);
  EXPECT_EQ(fib(10), 55);
}

TEST(join, outside_a_runtime_passes_on_values_and_exceptions) {
  int number = 7;
  auto owned = std::make_unique<int>(8);
  auto [a, b, c] = join([&]() -> int& { return number; }, [] {},
                        [owned = std::move(owned)]() mutable { return std::move(owned); });
  EXPECT_EQ(&a, &number);
  EXPECT_EQ(b, std::monostate{});
  EXPECT_EQ(*c, 8);
  EXPECT_THROW(join([] { throw std::out_of_range("thrown"); }, [] {}), std::out_of_range);
  EXPECT_THROW(join([] { return 1; }, []() -> int { throw std::string("thrown"); }), std::string);
}

TEST(join, of_a_thread_that_a_runtime_has_beside_its_workers_runs_there) {
  runtime rt{{.workers = 1}};
  std::string order;
  rt.run([&] {
    blocking([&] {
      const auto thread = std::this_thread::get_id();
      join([&] { order += 'f'; }, [&] { order += std::this_thread::get_id() == thread ? 'g' : '?'; });
      parallel_for(0, 3,
                   [&](int i) { order += std::this_thread::get_id() == thread ? std::to_string(i) : "?"; });
    });
  });
  EXPECT_EQ(order, "fg012");
}

TEST(join, on_one_worker_runs_in_order) {
  runtime rt{{.workers = 1}};
  std::string order;
  rt.run([&] { join([&] { order += 'f'; }, [&] { order += 'g'; }); });
  EXPECT_EQ(order, "fg");
}

TEST(join, a_closure_without_value_counts_as_monostate) {
  runtime rt{{.workers = 2}};
  const auto [number, nothing] = rt.run([] { return join([] { return 7; }, [] {}); });
  EXPECT_EQ(number, 7);
  EXPECT_EQ(nothing, std::monostate{});
}

// Makes sure that a thief takes the second closure: the first ends only after the second has begun.
template <class G>
auto join_with_stolen(G g) {
  std::atomic<bool> begun{false};
  return join(
      [&] {
        while (!begun) std::this_thread::yield();
      },
      [&begun, g = std::move(g)]() mutable -> decltype(auto) {
        begun = true;
        return g();
      });
}

TEST(join, a_stolen_closure_returns_small_large_move_only_and_reference_results) {
  runtime rt{{.workers = 2}};
  rt.run([] {
    EXPECT_EQ(join_with_stolen([] { return 5; }).second, 5);
    std::array<int, 100> large{};
    large[99] = 9;
    EXPECT_EQ(join_with_stolen([large] { return large; }).second, large);
    EXPECT_EQ(*join_with_stolen([] { return std::make_unique<int>(3); }).second, 3);
    EXPECT_EQ(join_with_stolen([] { return std::string(100, 'x'); }).second, std::string(100, 'x'));
    int target = 0;
    join_with_stolen([&target]() -> int& { return target; }).second = 4;
    EXPECT_EQ(target, 4);
  });
}

TEST(join, closures_and_results_are_destroyed_exactly_once) {
  struct counted {
    explicit counted(std::atomic<int>& all) : alive(&all) { ++*alive; }
    counted(const counted& other) : alive(other.alive) { ++*alive; }
    counted(counted&& other) noexcept : alive(other.alive) { ++*alive; }
    counted& operator=(const counted&) = delete;
    ~counted() { --*alive; }
    std::atomic<int>* alive;
  };
  runtime rt{{.workers = 2}};
  std::atomic<int> alive{0};
  rt.run([&] {
    join([] {}, [c = counted(alive)] { return c; });
    join_with_stolen([c = counted(alive)] { return c; });
    EXPECT_THROW(join([] { throw std::runtime_error("f"); }, [c = counted(alive)] { return c; }),
                 std::runtime_error);
    EXPECT_THROW(join_with_stolen([c = counted(alive)]() -> counted { throw std::runtime_error("g"); }),
                 std::runtime_error);
  });
  EXPECT_EQ(alive, 0);
}

TEST(join, throws_the_exception_of_its_first_closure_before_the_exception_of_its_second) {
  on_runtimes([](runtime& rt) {
    const auto thrown = [&](auto f, auto g) {
      try {
        rt.run([&] { join(f, g); });
        return std::string();
      } catch (const std::runtime_error& error) {
        return std::string(error.what());
      }
    };
    const auto fails = [](const char* what) { return [what] { throw std::runtime_error(what); }; };
    EXPECT_EQ(thrown([] {}, fails("g")), "g");
    EXPECT_EQ(thrown(fails("f"), [] {}), "f");
    EXPECT_EQ(thrown(fails("f"), fails("g")), "f");
  });
}

TEST(join, drops_the_second_closure_if_the_first_throws_before_the_second_has_begun) {
  runtime rt{{.workers = 1}};
  bool ran = false;
  EXPECT_THROW(rt.run([&] { join([] { throw std::runtime_error("f"); }, [&] { ran = true; }); }),
               std::runtime_error);
  EXPECT_FALSE(ran);
}

TEST(join, waits_for_a_stolen_closure_even_if_the_first_throws) {
  runtime rt{{.workers = 2}};
  std::atomic<bool> begun{false};
  std::atomic<bool> ended{false};
  EXPECT_THROW(rt.run([&] {
    join(
        [&] {
          while (!begun) std::this_thread::yield();
          throw std::runtime_error("f");
        },
        [&] {
          begun = true;
          for (int i = 0; i < 1000; ++i) std::this_thread::yield();
          ended = true;
        });
  }),
               std::runtime_error);
  EXPECT_TRUE(ended);
}

TEST(join, throws_what_a_stolen_closure_throws) {
  runtime rt{{.workers = 2}};
  rt.run([] {
    EXPECT_THROW(join_with_stolen([] { throw std::out_of_range("g"); }), std::out_of_range);
    EXPECT_THROW(join_with_stolen([large = std::array<int, 100>{}]() -> int {
                   throw std::out_of_range(large[99] == 0 ? "g" : "not g");
                 }),
                 std::out_of_range);
  });
}

// Its copies throw while `*throws` is set.
struct fragile {
  std::atomic<bool>* throws;
  explicit fragile(std::atomic<bool>& when) : throws(&when) {}
  fragile(const fragile& other) : throws(other.throws) {
    if (*throws) throw std::bad_alloc();
  }
};

TEST(join, a_stolen_closure_whose_result_throws_when_it_is_copied_leaves_later_joins_alone) {
  runtime rt{{.workers = 2}};
  std::atomic<bool> throws{true};
  rt.run([&] { EXPECT_THROW(join_with_stolen([&] { return fragile(throws); }), std::bad_alloc); });
  throws = false;
  for (int i = 0; i < 100; ++i) {
    rt.run([&] {
      EXPECT_EQ(join_with_stolen([i] { return std::string(100, static_cast<char>('a' + i % 26)); }).second[0],
                'a' + i % 26);
      EXPECT_EQ(join([] { return 1; }, [i] { return i; }).second, i);
    });
  }
}

// The copy of this number throws; it has no other move.
struct copied_so_often {
  int* copies;
  int throws_at;
  copied_so_often(int& count, int at) : copies(&count), throws_at(at) {}
  copied_so_often(const copied_so_often& other) : copies(other.copies), throws_at(other.throws_at) {
    if (++*copies == throws_at) throw std::bad_alloc();
  }
  int operator()() const { return 1; }
};

TEST(join, of_a_closure_whose_copy_throws_leaves_no_task_behind) {
  const auto throws = [](int at) {
    int copies = 0;
    try {
      const auto [f, g] = join(copied_so_often(copies, at), copied_so_often(copies, at));
      EXPECT_EQ(f + g, 2);
      return false;
    } catch (const std::bad_alloc&) {
      return true;
    }
  };
  runtime rt{{.workers = 1}};
  rt.run([&] {
    for (const int at : {1, 2, 3}) EXPECT_FALSE(throws(at)) << at;
    EXPECT_EQ(fib(10), 55);
  });
  // On another thread the join keeps copies of both closures, which it makes before it begins.
  for (const int at : {1, 2}) EXPECT_TRUE(throws(at)) << at;
  EXPECT_FALSE(throws(3));
  EXPECT_EQ(fib(10), 55);
}

TEST(join, takes_any_number_of_closures_and_runs_them_in_order_on_one_worker) {
  runtime rt{{.workers = 1}};
  rt.run([] {
    std::string order;
    const auto [a, b, c] = join(
        [&] {
          order += 'a';
          return 1;
        },
        [&] { order += 'b'; },
        [&] {
          order += 'c';
          return std::make_unique<int>(3);
        });
    EXPECT_EQ(a, 1);
    EXPECT_EQ(b, std::monostate{});
    EXPECT_EQ(*c, 3);
    EXPECT_EQ(order, "abc");
  });
}

// Within the default runtime, which may have several workers.
TEST(join, takes_any_number_of_closures_on_a_thread_that_is_no_worker) {
  const auto [a, b, c] = join([] { return 1; }, [] {}, [] { return std::make_unique<int>(3); });
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, std::monostate{});
  EXPECT_EQ(*c, 3);
}

TEST(join, of_three_drops_the_closures_after_the_first_that_throws) {
  runtime rt{{.workers = 1}};
  rt.run([] {
    bool ran = false;
    const auto last = [&] { ran = true; };
    const auto fails = [] { throw std::runtime_error("second"); };
    EXPECT_THROW(join([] {}, fails, last), std::runtime_error);
    EXPECT_FALSE(ran);
  });
}

TEST(join, of_three_throws_the_first_exception_in_the_order_of_its_closures) {
  on_runtimes([](runtime& rt) {
    const auto fails = [](const char* what) {
      return [what] {
        for (int i = 0; i < 100; ++i) std::this_thread::yield();
        throw std::runtime_error(what);
      };
    };
    const auto thrown = [&](auto run) {
      try {
        rt.run(run);
        return std::string();
      } catch (const std::runtime_error& error) {
        return std::string(error.what());
      }
    };
    EXPECT_EQ(thrown([&] { join([] {}, fails("g"), fails("h")); }), "g");
    EXPECT_EQ(thrown([&] { join([] {}, [] {}, fails("h")); }), "h");
  });
}

// Returns the sum of the leaves of a random tree of joins. Throws if a node of the tree does.
long random_tree(std::uint64_t seed, int depth, double fails) {
  std::minstd_rand random(static_cast<unsigned>(seed % 2147483646 + 1));
  random.discard(3);
  if (std::uniform_real_distribution<>()(random) < fails) throw std::runtime_error("leaf");
  if (depth == 0) return 1;
  const auto left = random();
  const auto right = random();
  const auto [a, b] =
      join([=] { return random_tree(left, depth - 1, fails); },
           [=] { return random_tree(right, depth - 1 - static_cast<int>(right % 2) * (depth > 1), fails); });
  return a + b;
}

TEST(join, random_trees_give_the_same_sum_or_an_exception_on_any_number_of_workers) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  on_runtimes([&](runtime& rt) {
    for (std::uint64_t i = 0; i < 30; ++i) {
      EXPECT_EQ(rt.run([&] { return random_tree(seed + i, 10, 0); }), random_tree(seed + i, 10, 0));
      const auto outcome = [&](auto&& run) {
        try {
          return run();
        } catch (const std::runtime_error&) {
          return -1L;
        }
      };
      const auto tree = [&] { return random_tree(seed + i, 10, 0.002); };
      EXPECT_EQ(outcome([&] { return rt.run(tree); }), outcome(tree));
    }
  });
}

// A chain of joins, `depth` deep. Each level joins a leaf with the rest.
long chain(long depth) {
  if (depth == 0) return 0;
  const auto [rest, leaf] = join([=] { return chain(depth - 1); }, [] { return 1L; });
  return rest + leaf;
}

TEST(join, recurses_a_hundred_thousand_deep) {
  const long depth = under_thread_sanitizer ? 5000 : 100000;  // which keeps at most 2^16 frames
  for (const unsigned workers : {1U, 2U, 4U}) {
    runtime rt{{.workers = workers}};
    EXPECT_EQ(rt.run([=] { return chain(depth); }), depth);
  }
}

}  // namespace
}  // namespace teff::test
