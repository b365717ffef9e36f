// The table of the keys that one worker counts, and the queue of those that others leave for it.
#include <gtest/gtest.h>
#include <teff/detail/graph/key_table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <random>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace teff::test {
namespace {

struct node : detail::graph_node {
  int key = 0;
};

node& make(std::deque<node>& nodes, int key) {
  node& made = nodes.emplace_back();
  made.key = key;
  made.hash = static_cast<std::size_t>(key);
  return made;
}

node* find(detail::key_table& table, int key) {
  const auto hash = static_cast<std::size_t>(key);
  const auto is_it = [key](const detail::graph_node& each) {
    return static_cast<const node&>(each).key == key;
  };
  auto* const found = table.find(hash, is_it);
  return static_cast<node*>(found != nullptr ? found : table.find_unmoved(hash, is_it));
}

TEST(key_table, while_it_grows_each_key_is_found_and_no_other) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  detail::key_table table;
  std::deque<node> nodes;
  std::vector<node*> kept;
  std::unordered_map<int, node*> there;
  for (int key = 0; key < 20'000; ++key) {
    ASSERT_EQ(find(table, key), nullptr);
    node& added = make(nodes, key);
    table.insert(&added);
    kept.push_back(&added);
    there[key] = &added;
    // Looks up two random keys. After every third insertion it erases a random key, often one that the table
    // is about to move.
    for (int look = 0; look < 2; ++look) {
      const int any = static_cast<int>(random() % nodes.size());
      const auto at = there.find(any);
      ASSERT_EQ(find(table, any), at == there.end() ? nullptr : at->second);
    }
    if (key % 3 != 0) continue;
    std::swap(kept[random() % kept.size()], kept.back());
    table.erase(kept.back());
    there.erase(kept.back()->key);
    kept.pop_back();
  }
  EXPECT_EQ(table.size(), there.size());
  for (const auto& [key, each] : there) EXPECT_EQ(find(table, key), each);
}

TEST(key_table, clear_gives_each_key_once_also_of_a_table_that_grows) {
  for (const int keys : {1, 64, 65, 70, 128, 130, 1000}) {
    detail::key_table table;
    std::deque<node> nodes;
    for (int key = 0; key < keys; ++key) table.insert(&make(nodes, key));
    std::unordered_set<int> given;
    table.clear([&](const detail::graph_node* each) {
      EXPECT_TRUE(given.insert(static_cast<const node*>(each)->key).second);
    });
    EXPECT_EQ(given.size(), static_cast<std::size_t>(keys));
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(find(table, 0), nullptr);
  }
}

}  // namespace
}  // namespace teff::test
