// Tasks of a flow that can't be (misuse.sh).
#include <teff/flow.hpp>

#include <vector>

void right(teff::flow& f, std::vector<double>& row, double& sum) {
  f.task(teff::in(teff::section(row, 0, 4)), teff::inout(sum), [&] { sum += row[0]; });
}

#ifdef MISUSE
void misuse(teff::flow& f, std::vector<double>& row, double& sum) {
  f.task(teff::in(std::vector<double>(row)), [] {});  // error: name a range that outlives the task
  f.task(teff::in(row), teff::inout(sum));            // error: the last argument of a task is its body
  f.task(teff::in(row.data()), [] {});                // error: name the object, as in(*p), or the elements
  double* const to = &sum;
  f.task(teff::reduction(to), [](double*& mine) { ++mine; });  // error: name the object, as in(*p)
  const auto lesser = [](double a, double b) { return a < b ? a : b; };
  f.task(teff::reduction(sum, lesser), [](double&) {});  // error: give it as the third argument of reduction
}
#endif
