// Tasks of a flow that can't be, one for each CASE; case 0 is right. The compiler must say what is wrong.
#include <teff/flow.hpp>
#include <teff/runtime.hpp>

#include <vector>

int main() {
  teff::runtime rt;
  std::vector<double> row(8);
  double sum = 0;
  teff::flow f{rt};
#if CASE == 0
  f.task(teff::in(teff::section(row, 0, 4)), teff::inout(sum), [&] { sum += row[0]; });
#elif CASE == 1
  f.task(teff::in(std::vector<double>(row)), teff::inout(sum), [&] { sum += row[0]; });
#elif CASE == 2
  f.task(teff::in(row), teff::inout(sum));
#elif CASE == 3
  f.task(teff::in(row.data()), [] {});
#elif CASE == 4
  double* const to = &sum;
  f.task(teff::reduction(to), [](double*& mine) { ++mine; });
#elif CASE == 5
  const auto lesser = [](double a, double b) { return a < b ? a : b; };
  f.task(teff::reduction(sum, lesser), [](double& mine) { mine = 0; });
#endif
  f.wait();
}
