#include <gtest/gtest.h>

#include "teff/spawn/tree.hpp"

namespace {

using namespace teff::spawn;

TEST(tree, published_counts_come_out_of_plain_search) {
  for (const char* name : {"T1", "T2", "T3", "T5"}) {
    const tree& known = *find_tree(name);
    const tree_counts found = search(known, known.root());
    EXPECT_EQ(found, known.published)
        << name << ": " << found.nodes << ' ' << found.leaves << ' ' << found.depth;
  }
}

}  // namespace
