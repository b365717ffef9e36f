// The table of keys without a place, used by one thread. graph_model_test.cpp uses it with several.
#include <gtest/gtest.h>

#include "graph/key_chains.hpp"

#include <atomic>
#include <cstddef>
#include <deque>

namespace teff::test {
namespace {

struct numbered_node {
  numbered_node* next = nullptr;
  numbered_node* next_in_line = nullptr;
  std::size_t hash = 0;
  std::size_t number = 0;
  int received = 1;
  int needed = 2;
  bool ended = false;
  std::atomic<bool> ran{false};
  [[nodiscard]] bool same_key(const numbered_node& other) const { return number == other.number; }
};

// Keys whose hashes are their numbers, or all alike.
class keys_that_wait {
 public:
  explicit keys_that_wait(bool all_alike) : all_alike_(all_alike) {}

  // Fulfils key `number`. Returns whether it is ready now.
  bool fulfill(std::size_t number) {
    const std::size_t hash = all_alike_ ? 7 : number;
    const auto outcome = chains_.fulfill(
        hash,
        [&](const numbered_node& each) {
          ++looks;
          return each.number == number;
        },
        [&] {
          ++waiting;
          auto& made = nodes_.emplace_back();
          made.hash = hash;
          made.number = number;
          return &made;
        },
        [](const numbered_node&) { FAIL() << "fulfilled too often"; },
        [this](std::size_t buckets) { return waiting > buckets; });
    for (auto* each = outcome.spare; each != nullptr; each = each->next) ++given_back;
    if (outcome.ready == nullptr) return false;
    chains_.forget(*outcome.ready);
    --waiting;
    return true;
  }
  template <class Each>
  void clear(Each each) {
    chains_.clear(each);
  }

  std::size_t looks = 0;  // at nodes
  std::size_t waiting = 0;
  std::size_t given_back = 0;

 private:
  bool all_alike_;
  detail::key_chains<numbered_node> chains_{{}};
  std::deque<numbered_node> nodes_;
};

TEST(key_chains, needs_few_looks_for_a_key_however_many_keys_wait) {
  keys_that_wait keys(false);
  constexpr std::size_t count = 1'000'000;
  for (std::size_t i = 0; i < count; ++i) ASSERT_FALSE(keys.fulfill(i));
  for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(keys.fulfill(i));
  EXPECT_LT(keys.looks, 2 * 3 * count);
}

TEST(key_chains, gives_back_each_key_that_has_run_when_other_keys_come) {
  keys_that_wait keys(false);
  constexpr std::size_t count = 10'000;
  for (std::size_t round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < count; ++i) ASSERT_FALSE(keys.fulfill(i));
    EXPECT_GE(keys.given_back, round * count * 9 / 10);
    for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(keys.fulfill(i));
  }
  std::size_t left = 0;
  keys.clear([&](const numbered_node* each) { left += each->ran ? 1 : 0; });
  EXPECT_EQ(keys.given_back + left, 3 * count);
}

TEST(key_chains, finds_every_key_though_their_hashes_are_alike) {
  keys_that_wait keys(true);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_FALSE(keys.fulfill(i));
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_TRUE(keys.fulfill(i));
}

}  // namespace
}  // namespace teff::test
