#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "hpcg/problem.hpp"
#include "teff/apps/ways.hpp"

namespace teff::apps::hpcg {

struct limits {
  int iterations = 50;
  double tolerance = 0;  ///< of the scaled residual; if there is one, the program waits for each iteration
  bool preconditioned = true;
};

struct outcome {
  int iterations = 0;
  double scaled_residual = 1;  ///< || r || / || b ||
};

/// A vector that rows of other ranks read: the rank's own elements and its ghosts.
struct shared_vector {
  std::vector<double>& elements;
  field own;
  field ghosts;
};

/// The steps that solve a problem in a way. It outlives them. All ranks make the same steps.
class solution {
 public:
  solution(problem& of, way& by);

  /// One V-cycle from a level on: the level's x approximates the solution of a x = r.
  void precondition(std::size_t depth = 0);
  /// ap = a p, and p ap is the number to which `use` is applied.
  void apply(std::function<void(double)> use);
  /// Conjugate gradients from x = 0. Returns when all steps have run.
  outcome solve(const limits& until = {});

 private:
  struct names {
    field r;
    shared_vector x;
    field sent;
  };
  using kernel_of_terms = void (*)(problem&, std::int64_t begin, std::int64_t end);
  using access_finder = std::function<void(range, access_list&)>;

  /// Runs kernel(begin, end) for blocks of `rows` rows.
  template <class Kernel>
  void run_blocks(std::string_view name, std::int64_t rows, access_finder accesses, Kernel kernel);
  /// The kernel writes a term for each row. One task adds up the terms in the order of the rows, and the way
  /// adds up the sums of all ranks. A last task calls use(sum).
  void add_up(std::string_view name, const access_finder& accesses, kernel_of_terms kernel,
              std::function<void(double)> use);
  /// Brings the ghosts of a level's vector.
  void cross(std::size_t depth, const shared_vector& of);
  /// A forward and a backward sweep. The ghosts stay as they are, else the preconditioner were not symmetric.
  void smooth(std::size_t depth);
  template <class Kernel>
  void smooth_set(std::size_t depth, std::size_t set, Kernel kernel);
  void iterate(bool preconditioned);

  problem& of_;
  way& by_;
  std::vector<names> levels_;
  field x_;
  shared_vector p_;
  field ap_;
  field terms_;
  double sum_ = 0;
  field sum_name_;
  field scalars_;  ///< stands for all other numbers that the steps compute one of
  double norm_of_b_ = 0;
  double rz_ = 0;
  outcome reached_;
};

}  // namespace teff::apps::hpcg
