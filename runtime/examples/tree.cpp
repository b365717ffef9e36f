// The sum over a tree: each node forks its left side, sums its right side meanwhile, then asks for the left
// one.
#include <teff/teff.hpp>

#include <cstdio>
#include <memory>

namespace {

struct node {
  long value = 1;
  std::unique_ptr<node> left, right;
};

// A tree in which every node's left side is one deeper than its right side.
std::unique_ptr<node> tree_of_depth(int depth) {
  if (depth <= 0) return nullptr;
  auto made = std::make_unique<node>();
  made->left = tree_of_depth(depth - 1);
  made->right = tree_of_depth(depth - 2);
  return made;
}

long sum(const node* tree) {
  if (tree == nullptr) return 0;
  auto left = teff::fork([tree] { return sum(tree->left.get()); });
  const long here = tree->value + sum(tree->right.get());
  return here + left.get();
}

}  // namespace

int main() {
  const auto tree = tree_of_depth(20);
  teff::runtime rt;
  const long nodes = rt.run([&] { return sum(tree.get()); });
  std::printf("%ld nodes\n", nodes);
  return nodes == 17'710 ? 0 : 1;
}
