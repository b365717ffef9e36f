// How long a worker looks for work before it parks, by the outcome of its earlier searches.
#include "scheduler/search_pace.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace teff::test {
namespace {

using namespace std::chrono_literals;
using detail::spin_patience;

void wake(spin_patience& patience, int times, spin_patience::duration slept) {
  for (int i = 0; i < times; ++i) patience.was_woken(slept);
}

TEST(spin_patience, grows_if_a_worker_is_woken_soon_again_and_again) {
  spin_patience patience(50us, 1ms);
  wake(patience, 3, 250us);
  EXPECT_EQ(patience.now(), 50us) << "a few times may be by chance";
  wake(patience, 1, 250us);
  EXPECT_EQ(patience.now(), 1ms);
  wake(patience, 1, 1s);
  EXPECT_EQ(patience.now(), 1ms) << "it did not look in vain";
}

TEST(spin_patience, stays_short_if_a_longer_search_would_have_been_in_vain) {
  spin_patience patience(50us, 1ms);
  wake(patience, 100, 900us);
  EXPECT_EQ(patience.now(), 50us) << "as likely as not it would end before that";
  for (int i = 0; i < 100; ++i) {
    wake(patience, 3, 10us);
    patience.was_woken(1s);
  }
  EXPECT_EQ(patience.now(), 50us) << "not in succession";
}

TEST(spin_patience, is_short_again_after_one_search_in_vain) {
  spin_patience patience(50us, 1ms);
  wake(patience, 4, 10us);
  patience.was_in_vain();
  EXPECT_EQ(patience.now(), 50us);
  wake(patience, 3, 10us);
  EXPECT_EQ(patience.now(), 50us) << "what it learnt before does not count";
  wake(patience, 1, 10us);
  EXPECT_EQ(patience.now(), 1ms);
}

TEST(spin_patience, does_not_change_if_its_shortest_and_longest_are_equal) {
  for (const auto spin : {0us, 70us, 5'000'000us}) {
    spin_patience patience(spin, spin);
    wake(patience, 100, 1us);
    EXPECT_EQ(patience.now(), spin);
    EXPECT_FALSE(patience.is_long());
  }
}

}  // namespace
}  // namespace teff::test
