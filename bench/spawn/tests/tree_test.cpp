#include "teff/spawn/tree.hpp"

#include <gtest/gtest.h>

namespace {

using namespace teff::spawn;

TEST(tree, root_and_first_child_of_seed_42_have_the_known_digests) {
  const tree& t3 = *find_tree("T3");
  const digest root{0xa11dabbc, 0xec7aab30, 0x9c890ab3, 0xdbc256ea, 0xeb582782};
  const digest child{0x7407806c, 0x9e18f6e1, 0xd4d94480, 0x9de9c0c9, 0x4b892757};
  EXPECT_EQ(t3.root().state, root);
  EXPECT_EQ(tree::child(t3.root(), 0).state, child);
  EXPECT_EQ(tree::child(t3.root(), 0).depth, 1);
}

TEST(tree, root_of_the_binomial_tree_has_its_exact_number_of_children) {
  const tree& t3 = *find_tree("T3");
  EXPECT_EQ(t3.children(t3.root()), 2000);
}

TEST(tree, a_name_that_is_unknown_finds_no_tree) {
  EXPECT_EQ(find_tree("T4711"), nullptr);
}

}  // namespace
