// The table of keys without a place: while it grows, and while several threads use it.
#include <gtest/gtest.h>
#include <teff/detail/graph/key_chains.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <deque>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

using detail::graph_node;
using detail::key_chains;

// A thread that fulfils keys. The hash of a key is its number, or the same one for several keys.
class fulfiller {
 public:
  fulfiller(key_chains& chains, std::size_t keys_a_hash) : chains_(chains), keys_a_hash_(keys_a_hash) {}

  // Returns whether the key is ready now, after `needed` fulfilments. Then its task has run.
  bool fulfill(int key, int needed) {
    graph_node* ready = nullptr;
    graph_node* spare = nullptr;
    {
      const auto hash = static_cast<std::size_t>(key) / keys_a_hash_;
      key_chains::held_chain chain(chains_, hash);
      auto* found = chain.find(hash, [key](const graph_node& each) { return each.needed == key; }, spare);
      if (found == nullptr) {
        found = &nodes_.emplace_back();
        found->hash = hash;
        found->needed = key;  // stands for the key
        found->received = 0;
        found->ran.store(false, std::memory_order_relaxed);
        chain.add(found);
        ++added;
      }
      if (++found->received == needed) ready = found;
    }
    for (; spare != nullptr; spare = spare->next) ++given_back;
    chains_.grow(added);
    chains_.move_some();
    if (ready != nullptr) key_chains::forget(*ready);
    return ready != nullptr;
  }

  std::size_t added = 0;
  std::size_t given_back = 0;

 private:
  key_chains& chains_;
  const std::size_t keys_a_hash_;
  std::deque<graph_node> nodes_;
};

TEST(key_chains, has_each_key_that_waits_once_while_it_grows) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  for (const std::size_t keys_a_hash : {1U, 16U}) {
    constexpr int needed = 3;
    key_chains chains;
    fulfiller only(chains, keys_a_hash);
    std::vector<int> received(3000);
    for (int step = 0; step < 20'000; ++step) {
      const auto key = random() % received.size();
      EXPECT_EQ(only.fulfill(static_cast<int>(key), needed), ++received[key] % needed == 0);
    }
    std::size_t left = 0;
    std::size_t waiting = 0;
    chains.clear([&](graph_node* each) {
      ++left;
      if (!each->ran) ++waiting;
    });
    EXPECT_EQ(left + only.given_back, only.added);
    EXPECT_EQ(waiting, std::ranges::count_if(received, [](int each) { return each % needed != 0; }));
  }
}

TEST(key_chains, makes_each_key_ready_once_for_several_threads) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  constexpr int threads = 4;
  constexpr int keys = 20'000;
  key_chains chains;
  std::vector<std::atomic<int>> ran(keys);
  std::deque<fulfiller> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(chains, 2);
  std::barrier all_begin(threads);
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        std::mt19937 random(static_cast<unsigned>(seed) + static_cast<unsigned>(i));
        std::vector<int> order(keys);
        std::iota(order.begin(), order.end(), 0);
        std::ranges::shuffle(order, random);
        all_begin.arrive_and_wait();
        for (const int key : order)
          if (all[static_cast<std::size_t>(i)].fulfill(key, threads)) ++ran[static_cast<std::size_t>(key)];
      });
    }
  }
  for (auto& each : ran) EXPECT_EQ(each, 1);
  std::size_t left = 0;
  chains.clear([&](graph_node* each) {
    ++left;
    EXPECT_TRUE(each->ran);
  });
  for (const auto& each : all) left += each.given_back;
  EXPECT_EQ(left, static_cast<std::size_t>(keys));
}

}  // namespace
}  // namespace teff::test
