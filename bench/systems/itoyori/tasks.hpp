// Fork and join over MPI ranks: a rank is a worker. It steals the part of another rank that has not begun,
// and goes on with its stack. Rank 0 has the main program; it directs the others until it ends.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <type_traits>

#include <ityr/ityr.hpp>

#include "teff/bench/failure.hpp"
#include "teff/bench/identity.hpp"
#include "teff/spawn/spawn_patterns.hpp"

namespace {

/// What all ranks run together. Their address spaces are alike, so that pointers to constants hold in all.
struct order {
  teff::spawn::pattern what = teff::spawn::pattern::serial;
  std::int64_t tasks = 0;
  std::int32_t n = 0;
  bool both = false;
  teff::spawn::tree tree;
  teff::spawn::node from;
  bool ends = false;  ///< there is nothing more to run
};
static_assert(std::is_trivially_copyable_v<order>);

/// The order on this rank: a task looks here.
order now;

std::int64_t fibonacci_of_one(std::int32_t n) {
  if (n < 2) return n;
  const auto [a, b] =
      ityr::parallel_invoke([n] { return fibonacci_of_one(n - 1); }, [n] { return fibonacci_of_one(n - 2); });
  return a + b;
}

/// The last of several is called, and no task: here it has nothing to do.
std::int64_t fibonacci_of_both(std::int32_t n) {
  if (n < 2) return n;
  const auto [a, b, none] = ityr::parallel_invoke([n] { return fibonacci_of_both(n - 1); },
                                                  [n] { return fibonacci_of_both(n - 2); }, [] {});
  return a + b;
}

teff::spawn::tree_counts search_below(const teff::spawn::node& from) {
  using counts = teff::spawn::tree_counts;
  const std::int32_t children = now.tree.children(from);
  if (children == 0) return {1, 1, from.depth};
  return counts{1, 0, from.depth} +
         ityr::transform_reduce(
             ityr::execution::par, ityr::count_iterator<std::int32_t>(0),
             ityr::count_iterator<std::int32_t>(children), ityr::reducer::monoid<counts, std::plus<>>{},
             [from](std::int32_t i) { return search_below(teff::spawn::tree::child(from, i)); });
}

void run_null_tasks() {
  ityr::for_each(ityr::execution::par, ityr::count_iterator<std::int64_t>(0),
                 ityr::count_iterator<std::int64_t>(now.tasks), teff::spawn::null_task);
}

/// The counts of all ranks; known to rank 0.
teff::spawn::null_counts null_tasks_of_all() {
  const teff::spawn::null_counts mine = teff::spawn::null_tasks_run();
  teff::spawn::null_counts all;
  static_assert(sizeof all == 2 * sizeof(std::int64_t));
  MPI_Reduce(&mine, &all, 2, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  return all;
}

/// On all ranks: has the root thread run what rank 0 said.
teff::spawn::result run_order() {
  teff::spawn::result found;
  switch (now.what) {
    case teff::spawn::pattern::parallel:
      teff::spawn::reset_null_tasks();
      ityr::root_exec(run_null_tasks);
      found.null_tasks = null_tasks_of_all();
      break;
    case teff::spawn::pattern::fibonacci:
      found.fibonacci = ityr::root_exec(now.both ? fibonacci_of_both : fibonacci_of_one, now.n);
      break;
    default:
      found.tree = ityr::root_exec([] { return search_below(now.from); });
  }
  return found;
}

class task_system {
 public:
  explicit task_system(int workers) {
    ityr::init();
    if (!ityr::is_master()) obey();
    if (ityr::n_ranks() != workers)
      throw teff::bench::usage_error("--workers " + std::to_string(workers) + ": there are " +
                                     std::to_string(ityr::n_ranks()) + " ranks");
  }
  ~task_system() {
    tell({.ends = true});
    ityr::fini();
  }
  task_system(const task_system&) = delete;
  task_system& operator=(const task_system&) = delete;

  [[nodiscard]] static teff::bench::identity describe() {
    return {.system = "itoyori",
            .variant = "fork_join",
            .version = "Itoyori " TEFF_ITOYORI_VERSION,
            .workers = ityr::n_ranks(),
            .ranks = ityr::n_ranks()};
  }

  template <class Body>
  static void run(Body body) {
    body();
  }

  static void parallel_spawn(std::int64_t tasks) {
    const auto all = carry_out({.what = teff::spawn::pattern::parallel, .tasks = tasks}).null_tasks;
    const auto mine = teff::spawn::null_tasks_run();
    teff::spawn::add_null_tasks({all.tasks - mine.tasks, all.index_sum - mine.index_sum});
  }
  static std::int64_t fibonacci_both(std::int32_t n) {
    return carry_out({.what = teff::spawn::pattern::fibonacci, .n = n, .both = true}).fibonacci;
  }
  static std::int64_t fibonacci_one(std::int32_t n) {
    return carry_out({.what = teff::spawn::pattern::fibonacci, .n = n}).fibonacci;
  }
  static teff::spawn::tree_counts search_tree(const teff::spawn::tree& of, const teff::spawn::node& from) {
    return carry_out({.what = teff::spawn::pattern::tree, .tree = of, .from = from}).tree;
  }

 private:
  /// On rank 0. All ranks get it.
  static void tell(const order& what) {
    now = what;
    MPI_Bcast(&now, sizeof now, MPI_BYTE, 0, MPI_COMM_WORLD);
  }
  static teff::spawn::result carry_out(const order& what) {
    tell(what);
    return run_order();
  }
  /// On the others, to the program's end.
  [[noreturn]] static void obey() {
    for (tell({}); !now.ends; tell({})) run_order();
    ityr::fini();
    std::exit(0);
  }
};

}  // namespace
