// Heat that spreads over a plate: each step makes a task for some rows of it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int rows = 2050, columns = 1024, steps = 500;

void relax(const float* from, float* to, int first, int last) {
  for (int row = first; row < last; ++row) {
    const float* at = from + row * columns;
    for (int column = 1; column < columns - 1; ++column) {
      to[row * columns + column] =
          0.25f * (at[column - 1] + at[column + 1] + at[column - columns] + at[column + columns]);
    }
  }
}

int main(int count, char** words) {
  const int rows_of_a_task = count > 1 ? std::atoi(words[1]) : 1;
  std::vector<float> one(rows * columns), other(rows * columns);
  std::fill_n(one.begin(), columns, 100.0f);
  std::fill_n(other.begin(), columns, 100.0f);
#pragma omp parallel
#pragma omp single
  for (int step = 0; step < steps; ++step) {
    const float* from = step % 2 == 0 ? one.data() : other.data();
    float* to = step % 2 == 0 ? other.data() : one.data();
    for (int row = 1; row < rows - 1; row += rows_of_a_task) {
#pragma omp task firstprivate(row)
      relax(from, to, row, std::min(row + rows_of_a_task, rows - 1));
    }
#pragma omp taskwait
  }
  std::printf("%.3f degrees\n", static_cast<double>(one[10 * columns + columns / 2]));
}
