// Eight queens and more: how many ways there are to set n queens on a board so that none attacks another. A
// row's queen may stand in any number of columns, so each row spawns what it finds.
#include <teff/teff.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

// The columns that the queens attack in the next row, a bit a column.
struct board {
  unsigned columns = 0;
  unsigned falling = 0;
  unsigned rising = 0;

  [[nodiscard]] unsigned attacked() const { return columns | falling | rising; }
  [[nodiscard]] board with(unsigned queen) const {
    return {columns | queen, (falling | queen) << 1, (rising | queen) >> 1};
  }
};

void count(board now, int rows_left, unsigned width, std::atomic<long>& ways) {
  if (rows_left == 0) {
    ways.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  teff::scope rows;
  for (unsigned queen = 1; queen < width; queen <<= 1) {
    if ((now.attacked() & queen) == 0) {
      rows.spawn([=, &ways] { count(now.with(queen), rows_left - 1, width, ways); });
    }
  }
}  // all that this row spawned has ended

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 10;
  std::atomic<long> ways{0};
  teff::runtime rt;
  rt.run([&] { count({}, n, 1U << n, ways); });
  std::printf("%d queens stand in %ld ways\n", n, ways.load());
}
