#include "workers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

TEST(grid, has_the_body_called_once_for_every_point) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  const auto below = [&](int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random); };
  on_runtimes([&](runtime& rt) {
    for (int round = 0; round < 10; ++round) {
      const int planes = below(5);
      const int rows = below(40);
      const int columns = below(300);
      const std::size_t grain = below(2) == 0 ? 0 : static_cast<std::size_t>(1 + below(1000));
      SCOPED_TRACE(testing::Message() << planes << " x " << rows << " x " << columns << ", grain " << grain);
      std::vector<std::atomic<int>> called(static_cast<std::size_t>(planes * rows * columns));
      const auto count = [&](int plane, int row, int column) {
        ASSERT_LT(row, rows);
        ASSERT_LT(column, columns);
        ++called[static_cast<std::size_t>((plane * rows + row) * columns + column)];
      };
      rt.run([&] {
        parallel_for(grid{planes, rows, columns}, count, {.grain = grain});
        parallel_for(grid{planes, rows, columns}.tiles(1 + below(3), 1 + below(20), 1 + below(100)), count);
        parallel_for(grid{rows, columns}, [&](int row, int column) {
          for (int plane = 0; plane < planes; ++plane) count(plane, row, column);
        });
      });
      for (auto& each : called) ASSERT_EQ(each, 3);
    }
  });
}

TEST(grid, is_run_row_by_row) {
  std::vector<std::pair<long, long>> met;
  runtime rt{{.workers = 1}};
  rt.run([&] { parallel_for(grid{2, 3L}, [&](long row, long column) { met.emplace_back(row, column); }); });
  EXPECT_EQ(met, (std::vector<std::pair<long, long>>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}));
}

TEST(grid, may_begin_anywhere) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  const auto between = [&](int first, int last) {
    return std::uniform_int_distribution<int>(first, last)(random);
  };
  on_runtimes([&](runtime& rt) {
    for (int round = 0; round < 10; ++round) {
      const int rows = between(0, 30);
      const int columns = between(0, 200);
      const int first_row = between(-5, 10);
      const int first_column = between(-5, 50);
      SCOPED_TRACE(testing::Message()
                   << first_row << " to " << rows << " x " << first_column << " to " << columns);
      std::vector<std::atomic<int>> called(36 * 206);
      const auto count = [&](int row, int column) {
        ASSERT_TRUE(row >= first_row && row < rows && column >= first_column && column < columns);
        ++called[static_cast<std::size_t>((row + 5) * 206 + column + 5)];
      };
      const auto points = grid{rows, columns}.from(first_row, first_column);
      rt.run([&] {
        parallel_for(points, count);
        parallel_for(points.tiles(between(1, 10), between(1, 60)), count);
      });
      int all = 0;
      for (const auto& each : called) all += each;
      EXPECT_EQ(all, 2 * std::max(rows - first_row, 0) * std::max(columns - first_column, 0));
      for (const auto& each : called) ASSERT_TRUE(each == 0 || each == 2);
    }
  });
}

TEST(grid, with_a_row_that_its_indices_can_t_count_is_refused) {
  EXPECT_THROW(static_cast<void>(grid{INT_MAX}.from(-1)), misuse);
  EXPECT_THROW(static_cast<void>(grid{10U, 10U}.from(0, -1)), misuse);
  EXPECT_EQ((grid{1U, 9U}.from(0, 9).extents), (std::array{1U, 0U}));
}

TEST(grid, in_tiles_is_run_tile_by_tile) {
  std::vector<std::pair<int, int>> met;
  runtime rt{{.workers = 1}};
  rt.run([&] {
    parallel_for(grid{3, 3}.tiles(2, 2), [&](int row, int column) { met.emplace_back(row, column); });
  });
  EXPECT_EQ(met, (std::vector<std::pair<int, int>>{
                     {0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2}, {1, 2}, {2, 0}, {2, 1}, {2, 2}}));
}

TEST(grid, with_an_extent_of_nothing_or_less_is_empty) {
  const auto fail = [](int, int) { FAIL(); };
  parallel_for(grid{0, 5}, fail);
  parallel_for(grid{5, 0}, fail);
  parallel_for(grid{-1, 5}, fail);
  parallel_for(grid{-1, 5}.tiles(2, 2), fail);
  std::atomic<int> points{0};
  parallel_for(grid{2, 2}.tiles(0, -1), [&](int, int) { ++points; });
  parallel_for(grid{std::int8_t{127}, std::int8_t{127}}.tiles(100, 100),
               [&](std::int8_t, std::int8_t) { ++points; });
  EXPECT_EQ(points, 4 + 127 * 127);
}

TEST(grid, may_have_one_dimension) {
  std::atomic<int> sum{0};
  parallel_for(grid{5}, [&](int i) { sum += i; });
  EXPECT_EQ(sum, 10);
}

TEST(grid, with_more_points_than_can_be_counted_is_refused) {
  const auto nothing = [](long, long) {};
  EXPECT_THROW(parallel_for(grid{LONG_MAX, LONG_MAX}, nothing), misuse);
  EXPECT_THROW(parallel_for(grid{1L << 32, 1L << 32}, nothing), misuse);
  EXPECT_THROW(parallel_for(grid{LONG_MAX, LONG_MAX}.tiles(1, 1), nothing), misuse);
  EXPECT_NO_THROW(parallel_for(grid{LONG_MAX, 0L}, nothing));
}

TEST(grid, passes_on_states_and_exceptions) {
  on_runtimes([](runtime& rt) {
    std::atomic<long> sum{0};
    rt.run([&] {
      parallel_for(grid{30, 40}, with_state([] { return 1L; }, [&](long& one, int, int) { sum += one; }));
      parallel_for(grid{30, 40}.tiles(7, 7),
                   with_state([] { return 1L; }, [&](long& one, int, int) { sum += one; }));
    });
    EXPECT_EQ(sum, 2400);
    EXPECT_THROW(rt.run([] {
      parallel_for(grid{30, 40}, [](int row, int) {
        if (row == 17) throw std::out_of_range("row");
      });
    }),
                 std::out_of_range);
  });
}

}  // namespace
}  // namespace teff::test
