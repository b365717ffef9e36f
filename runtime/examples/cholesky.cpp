// Cholesky factorisation, A = L L^T, on a grid of tiles: every step of every tile is a task, which starts
// when the tiles it reads are ready.
#include <teff/teff.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr int size = 32;   // rows and columns of a tile
constexpr int tiles = 10;  // of a column of the matrix
constexpr int rows = tiles * size;

using tile = std::array<std::array<double, size>, size>;

// A := L, where A = L L^T. Of A and of L the lower triangle counts.
void potrf(tile& a) {
  for (int j = 0; j < size; ++j) {
    for (int k = 0; k < j; ++k) {
      for (int i = j; i < size; ++i) a[i][j] -= a[i][k] * a[j][k];
    }
    a[j][j] = std::sqrt(a[j][j]);
    for (int i = j + 1; i < size; ++i) a[i][j] /= a[j][j];
  }
}

// A := A L^-T.
void trsm(const tile& l, tile& a) {
  for (auto& row : a) {
    for (int j = 0; j < size; ++j) {
      for (int k = 0; k < j; ++k) row[j] -= row[k] * l[j][k];
      row[j] /= l[j][j];
    }
  }
}

// C := C - A B^T.
void gemm(const tile& a, const tile& b, tile& c) {
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      for (int k = 0; k < size; ++k) c[i][j] -= a[i][k] * b[j][k];
    }
  }
}

// C := C - A A^T, its lower triangle.
void syrk(const tile& a, tile& c) {
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j <= i; ++j) {
      for (int k = 0; k < size; ++k) c[i][j] -= a[i][k] * a[j][k];
    }
  }
}

// The tiles of a matrix's lower triangle.
struct matrix {
  std::vector<tile> all = std::vector<tile>(tiles * tiles);

  tile& operator()(int i, int j) { return all[i * tiles + j]; }
  [[nodiscard]] double at(int row, int column) const {
    return all[row / size * tiles + column / size][row % size][column % size];
  }
};

// The update of tile (row, column) in a step, which takes column `step` out of all columns to the right of
// it.
struct key {
  int step, row, column;  // step <= column <= row
  bool operator==(const key&) const = default;
};

void factorise(matrix& a, teff::runtime& rt) {
  teff::task_graph<key> graph{rt};
  graph
      .indegree([](key k) {
        const int tiles_read = (k.row > k.step) + (k.column > k.step && k.row > k.column);
        return tiles_read + (k.step > 0);  // and its own tile, of the step before
      })
      .priority([](key k) { return -k.step; })
      .body([&](key k) {
        const auto [step, row, column] = k;
        tile& mine = a(row, column);
        if (row == step) {
          potrf(mine);
          for (int i = step + 1; i < tiles; ++i) graph.fulfill({step, i, step});
        } else if (column == step) {
          trsm(a(step, step), mine);
          for (int j = step + 1; j <= row; ++j) graph.fulfill({step, row, j});
          for (int i = row + 1; i < tiles; ++i) graph.fulfill({step, i, row});
        } else {
          row == column ? syrk(a(row, step), mine) : gemm(a(row, step), a(column, step), mine);
          graph.fulfill({step + 1, row, column});
        }
      });
  graph.start({0, 0, 0});
  graph.wait();
}

// A symmetric matrix whose diagonal outweighs its rows, so that it is positive definite.
matrix random_matrix() {
  matrix a;
  std::mt19937 random(1);
  std::uniform_real_distribution<> value(-1, 1);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j <= i; ++j)
      a(i / size, j / size)[i % size][j % size] = value(random) + (i == j ? rows : 0);
  }
  return a;
}

// ||A - L L^T|| / ||A||, of their lower triangles.
double residual(const matrix& a, const matrix& l) {
  double difference = 0;
  double whole = 0;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j <= i; ++j) {
      double product = 0;
      for (int k = 0; k <= j; ++k) product += l.at(i, k) * l.at(j, k);
      difference += std::pow(a.at(i, j) - product, 2);
      whole += std::pow(a.at(i, j), 2);
    }
  }
  return std::sqrt(difference / whole);
}

}  // namespace

int main() {
  const matrix a = random_matrix();
  matrix l = a;
  teff::runtime rt;
  factorise(l, rt);
  const double error = residual(a, l);
  std::printf("||A - L L^T|| / ||A|| = %.1e\n", error);
  return error < 1e-14 ? 0 : 1;
}
