// How long the blocks of a loop become, by a clock that the test moves.
#include <gtest/gtest.h>
#include <teff/detail/loops/pace.hpp>

#include <algorithm>
#include <cstdint>

namespace teff::detail {
namespace {

struct test_clock {
  static inline std::int64_t time = 0;
  static std::int64_t now() noexcept { return time; }
  static std::int64_t in(std::int64_t nanoseconds) noexcept { return nanoseconds; }
};

constexpr std::uint64_t long_loop = 1'000'000'000;

// A piece of a loop whose iterations take the time that the test says.
class piece {
 public:
  explicit piece(remembered_pace& remembered, bool alone = false)
      : pace_(remembered, 0, alone), remembered_(remembered) {}
  ~piece() { pace_.tell(remembered_); }
  piece(const piece&) = delete;
  piece& operator=(const piece&) = delete;

  // Runs a block whose iterations take `nanoseconds` each. Returns its length.
  std::int64_t run(double nanoseconds) {
    const auto block = pace_.block();
    test_clock::time += static_cast<std::int64_t>(static_cast<double>(block) * nanoseconds);
    pace_.look(block);
    return block;
  }
  void run(double nanoseconds, int blocks) {
    for (int i = 0; i < blocks; ++i) run(nanoseconds);
  }
  [[nodiscard]] std::int64_t next() const { return pace_.block(); }
  [[nodiscard]] bool pays(std::uint64_t left) const { return pace_.pays(left); }

 private:
  loop_pace<test_clock> pace_;
  remembered_pace& remembered_;
};

TEST(loop_pace, begins_with_one_iteration_even_if_it_remembers_a_pace) {
  remembered_pace remembered;
  EXPECT_EQ(piece(remembered).next(), 1);
  remembered.set(1e6F);
  EXPECT_EQ(piece(remembered).next(), 1);
}

TEST(loop_pace, begins_with_the_remembered_length_on_the_only_worker) {
  remembered_pace remembered;
  EXPECT_EQ(piece(remembered, true).next(), 1);
  remembered.set(4);
  EXPECT_EQ(piece(remembered, true).next(), 4);
  remembered.set(1e6F);
  piece loop(remembered, true);
  EXPECT_EQ(loop.next(), 8);
  loop.run(1000);
  EXPECT_EQ(loop.next(), 1) << "they were dearer";
}

TEST(loop_pace, doubles_blocks_until_they_take_half_a_microsecond) {
  remembered_pace remembered;
  piece loop(remembered);
  for (std::int64_t expected = 1; expected <= 256; expected *= 2) EXPECT_EQ(loop.run(1), expected);
  loop.run(1, 10);
  EXPECT_EQ(loop.next(), block_nanoseconds);
}

TEST(loop_pace, uses_the_pace_of_the_last_loop_when_the_first_iterations_confirm_it) {
  remembered_pace remembered;
  piece(remembered).run(0.5, 100);
  piece loop(remembered);
  EXPECT_EQ(loop.run(0.5), 1);
  EXPECT_LE(loop.run(0.5), 64);
  EXPECT_NEAR(static_cast<double>(loop.next()), 2.0 * block_nanoseconds, 100);
}

TEST(loop_pace, shares_at_once_a_loop_that_was_never_measured) {
  remembered_pace remembered;
  const piece loop(remembered);
  EXPECT_TRUE(loop.pays(2));
  EXPECT_FALSE(loop.pays(1));
}

TEST(loop_pace, does_not_share_a_loop_that_it_remembers_as_short) {
  remembered_pace remembered;
  piece(remembered).run(1, 100);
  piece loop(remembered);
  EXPECT_FALSE(loop.pays(64));
  EXPECT_TRUE(loop.pays(long_loop));
  loop.run(1);
  EXPECT_FALSE(loop.pays(64));
  loop.run(1);
  EXPECT_FALSE(loop.pays(64));
}

TEST(loop_pace, shares_a_loop_that_takes_three_microseconds) {
  remembered_pace remembered;
  remembered.set(50);  // iterations of 10 ns
  const piece loop(remembered);
  EXPECT_TRUE(loop.pays(300));
  EXPECT_FALSE(loop.pays(299));
}

TEST(loop_pace, shares_after_one_iteration_that_took_longer_than_remembered) {
  remembered_pace remembered;
  piece(remembered).run(1, 100);
  piece loop(remembered);
  loop.run(1e6);
  EXPECT_TRUE(loop.pays(2));
  EXPECT_EQ(loop.next(), 1);
}

TEST(loop_pace, does_not_take_one_cold_iteration_for_an_expensive_loop) {
  remembered_pace remembered;
  piece(remembered).run(1, 100);
  piece loop(remembered);
  loop.run(200);
  EXPECT_FALSE(loop.pays(64));
}

TEST(loop_pace, at_most_doubles_what_has_run_after_first_iterations_that_did_nothing) {
  remembered_pace remembered;
  piece(remembered).run(1e6, 10);
  piece loop(remembered);
  loop.run(0);
  EXPECT_LE(loop.next(), 2);
  loop.run(0);
  EXPECT_LE(loop.next(), 4);
  loop.run(1e6);
  EXPECT_EQ(loop.next(), 1);
}

TEST(loop_pace, follows_a_cost_that_rises_along_the_loop) {
  remembered_pace remembered;
  piece loop(remembered);
  double cost = 1;
  for (int i = 0; i < 200; ++i, cost *= 1.05) {
    EXPECT_LT(static_cast<double>(loop.next()) * cost, 4.0 * block_nanoseconds + cost);
    loop.run(cost);
  }
  EXPECT_EQ(loop.next(), 1);
}

TEST(loop_pace, follows_a_cost_that_falls_along_the_loop) {
  remembered_pace remembered;
  piece loop(remembered);
  loop.run(1e6, 3);
  loop.run(1, 40);
  EXPECT_EQ(loop.next(), block_nanoseconds);
}

// A loop of iterations that take so long each: the longest block.
std::uint64_t longest_block(std::int64_t nanoseconds) {
  remembered_pace remembered;
  loop_pace<test_clock> pace(remembered);
  std::uint64_t longest = 0;
  for (std::uint64_t done = 0; done < 100'000;) {
    const auto block = pace.block_after(done);
    EXPECT_LE(block, std::max(static_cast<std::uint64_t>(pace.block()), done / 4)) << "after " << done;
    done += block;
    test_clock::time += static_cast<std::int64_t>(block) * nanoseconds;
    pace.look(static_cast<std::int64_t>(block));
    longest = std::max(longest, block);
  }
  return longest;
}

TEST(loop_pace, has_blocks_grow_to_a_quarter_of_what_has_run_and_to_four_microseconds) {
  EXPECT_EQ(longest_block(10), 8 * block_nanoseconds / 10 / 64 * 64);
  EXPECT_EQ(longest_block(500), 8U);
  EXPECT_EQ(longest_block(1000), 4U);
  EXPECT_EQ(longest_block(4000), 1U);
  EXPECT_EQ(longest_block(1'000'000), 1U);
}

TEST(loop_pace, ends_long_blocks_at_multiples_of_64) {
  remembered_pace remembered;
  loop_pace<test_clock> pace(remembered);
  std::uint64_t done = 0;
  for (int i = 0; i < 100; ++i) {
    const auto block = pace.block_after(done);
    ASSERT_GE(block, 1U);
    done += block;
    test_clock::time += static_cast<std::int64_t>(block);
    pace.look(static_cast<std::int64_t>(block));
    if (block >= 64) {
      ASSERT_EQ(done % 64, 0U);
    }
  }
  EXPECT_EQ(loop_pace<test_clock>(remembered, 100).block_after(7), 100U);
}

// 24 iterations take half a microsecond, so the first blocks have 16. A body that runs four or eight
// iterations at once has no rest.
TEST(loop_pace, ends_short_blocks_at_multiples_of_a_power_of_two) {
  remembered_pace remembered;
  loop_pace<test_clock> pace(remembered);
  std::uint64_t done = 0;
  for (int i = 0; i < 100; ++i) {
    const auto block = pace.block_after(done);
    ASSERT_GE(block, 1U);
    done += block;
    test_clock::time += static_cast<std::int64_t>(block * 20);
    pace.look(static_cast<std::int64_t>(block));
    if (i >= 10) {
      ASSERT_EQ(done % 16, 0U);
    }
  }
}

TEST(loop_pace, keeps_a_block_length_that_the_program_gives) {
  const remembered_pace remembered;
  loop_pace<test_clock> pace(remembered, 10);
  EXPECT_EQ(pace.block(), 10);
  pace.look(10);
  EXPECT_EQ(pace.block(), 10);
  EXPECT_FALSE(pace.pays(10));
  EXPECT_TRUE(pace.pays(11));
}

}  // namespace
}  // namespace teff::detail
