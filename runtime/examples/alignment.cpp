#include <teff/parallel_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <vector>

int main() {  // the longest common subsequence of two texts: each cell after those above and left of it
  constexpr std::string_view a = "the quick brown fox jumps over the lazy dog";
  constexpr std::string_view b = "a quiet crow likes jam and never leaves its log";
  constexpr std::size_t columns = b.size();
  std::vector<int> length(a.size() * columns);
  teff::parallel_graph(
      length.size(), [](std::size_t cell) { return (cell >= columns) + (cell % columns > 0); },
      [&](std::size_t cell, const auto& release) {
        const int above = cell >= columns ? length[cell - columns] : 0;
        const int left = cell % columns > 0 ? length[cell - 1] : 0;
        const int before = cell >= columns && cell % columns > 0 ? length[cell - columns - 1] : 0;
        const bool same = a[cell / columns] == b[cell % columns];
        length[cell] = std::max({above, left, before + (same ? 1 : 0)});
        if (cell + columns < length.size()) release(cell + columns);
        if ((cell + 1) % columns > 0) release(cell + 1);
      });
  std::printf("%d letters\n", length.back());
}
