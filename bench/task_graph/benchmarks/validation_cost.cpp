// The price of validation: worker::execute runs a stencil with and without it, in interleaved pairs. The
// threads own columns and tell each other how far they have come. Nothing cheaper can run a task graph, so no
// runtime's tasks can pay a greater share. Not a test: it takes seconds and depends on the machine.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <deque>
#include <thread>
#include <vector>

#include "report.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::graphs {
namespace {

using clock = std::chrono::steady_clock;

/// An output of a column, and its timestep in the cache line that a neighbour waits for anyway. The owner's
/// release store pairs with the neighbours' acquire load.
struct alignas(128) slot {
  std::atomic<std::int64_t> finished{-1};
  payload output;
};

/// Owner: the thread that runs it. A thread that waits for the neighbours' timestep t knows that they have
/// read t - 1 too, so two outputs are enough.
struct column {
  std::array<slot, 2> slots;

  [[nodiscard]] slot& at(std::int64_t timestep) { return slots[static_cast<std::size_t>(timestep & 1)]; }
};

/// Threads bound to a core each that run a stencil with a share of the columns each, again and again.
class team {
 public:
  team(int threads, std::int64_t width) : columns_(static_cast<std::size_t>(width)), edge_(threads + 1) {
    for (int thread = 0; thread < threads; ++thread)
      threads_.emplace_back([this, thread, threads] {
        bench::bind_to_core(thread);
        for (;;) {
          edge_.arrive_and_wait();
          if (!work_) return;
          run_columns(thread, threads);
          edge_.arrive_and_wait();
        }
      });
  }
  ~team() {
    work_ = nullptr;
    edge_.arrive_and_wait();
  }
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  [[nodiscard]] int threads() const { return static_cast<int>(threads_.size()); }

  /// Seconds that a core spends on a task of `work`, whose one graph is a stencil of the team's width.
  double granularity(workload& work) {
    for (column& each : columns_)
      for (slot& half : each.slots)
        half.finished.store(-1, std::memory_order_relaxed);  // the barrier orders it
    ready_.store(0, std::memory_order_relaxed);
    work_ = &work;
    edge_.arrive_and_wait();
    edge_.arrive_and_wait();
    const task_graph& graph = work.graph(0);
    return std::chrono::duration<double>(last_stop_.load() - first_start_).count() * threads() /
           static_cast<double>(graph.steps * graph.width);
  }

 private:
  void run_columns(int thread, int threads) {
    const auto width = static_cast<std::int64_t>(columns_.size());
    const std::int64_t first = thread * width / threads, end = (thread + 1) * width / threads;
    if (ready_.fetch_add(1) == threads - 1) {
      first_start_ = clock::now();
      last_stop_.store(first_start_);
      ready_.store(-1);
    }
    while (ready_.load() >= 0) {
    }
    for (std::int64_t timestep = 0; timestep < work_->graph(0).steps; ++timestep)
      for (std::int64_t point = first; point < end; ++point) run_point(timestep, point, thread);
    const auto now = clock::now();
    for (auto last = last_stop_.load(); last < now && !last_stop_.compare_exchange_weak(last, now);) {
    }
  }

  void run_point(std::int64_t timestep, std::int64_t point, int thread) {
    std::array<input, 3> inputs;
    std::size_t count = 0;
    for (const std::int64_t each : work_->table(0).inputs(timestep, point)) {
      slot& other = columns_[static_cast<std::size_t>(each)].at(timestep - 1);
      while (other.finished.load(std::memory_order_acquire) < timestep - 1) {
      }
      inputs[count++] = std::as_bytes(std::span(&other.output, 1));
    }
    slot& own = columns_[static_cast<std::size_t>(point)].at(timestep);
    work_->worker(thread).execute(0, timestep, point, std::as_writable_bytes(std::span(&own.output, 1)),
                                  std::span(inputs).first(count));
    own.finished.store(timestep, std::memory_order_release);
  }

  std::vector<column> columns_;
  workload* work_ = nullptr;
  std::barrier<> edge_;
  std::atomic<int> ready_{0};  // threads that wait for the start; -1 when they are off
  clock::time_point first_start_;
  std::atomic<clock::time_point> last_stop_;
  std::vector<std::jthread> threads_;
};

configuration make_stencil(std::int64_t width, std::int64_t steps, std::int64_t iterations, bool validate) {
  task_graph graph{.steps = steps, .width = width, .pattern = find_pattern("stencil_1d")};
  if (iterations > 0) graph.kernel = {.kind = kernel_kind::compute_bound, .iterations = iterations};
  configuration work;
  work.graphs = {graph};
  work.validate = validate;
  return work;
}

/// Iterations of compute_bound that take as long as an unvalidated empty task and its share of waiting: METG
/// at 50 %.
std::int64_t iterations_at_metg(team& team, std::int64_t width, std::int64_t steps) {
  workload empty(make_stencil(width, steps, 0, false), team.threads());
  std::vector<double> overhead, iteration;
  const kernel_function run = select_kernel(kernel_kind::compute_bound, best_isa());
  constexpr std::int64_t many = 20000;
  for (int repeat = 0; repeat < 101; ++repeat) {
    overhead.push_back(team.granularity(empty));
    const auto start = clock::now();
    run({}, many, 0, {});
    iteration.push_back(std::chrono::duration<double>(clock::now() - start).count() / many);
  }
  return std::max<std::int64_t>(std::llround(spread_of(overhead).median / spread_of(iteration).median), 1);
}

struct cost {
  double bare;                ///< seconds a task without validation
  double ratio, low, high;    ///< with to without, and the 95 % interval of its median
  double added;               ///< seconds a task
  double least, least_added;  ///< as bare and added, from the least times
};

cost measure(team& team, std::int64_t width, std::int64_t steps, std::int64_t iterations, int pairs) {
  // It is luck whether a processor foresees the end of the kernel's loop, and it costs a large share of so
  // small a task. So five lengths alternate.
  std::deque<workload> with, without;
  for (std::int64_t more = -2; more <= 2; ++more) {
    const std::int64_t length = iterations == 0 ? 0 : std::max<std::int64_t>(iterations + more, 1);
    with.emplace_back(make_stencil(width, steps, length, true), team.threads());
    without.emplace_back(make_stencil(width, steps, length, false), team.threads());
  }
  std::vector<double> ratios, bare, full, added;
  for (int pair = 0; pair < pairs; ++pair) {
    double validated = 0, unvalidated = 0;
    const bool first = pair % 2 == 0;
    const auto length = static_cast<std::size_t>(pair) % with.size();
    if (first) validated = team.granularity(with[length]);
    unvalidated = team.granularity(without[length]);
    if (!first) validated = team.granularity(with[length]);
    ratios.push_back(validated / unvalidated);
    bare.push_back(unvalidated);
    full.push_back(validated);
    added.push_back(validated - unvalidated);
  }
  for (const workload& each : with)
    if (const std::string error = each.error(); !error.empty()) throw std::runtime_error(error);
  std::ranges::sort(ratios);
  // The median's rank among n values is n / 2 give or take sqrt(n) / 2, a standard deviation.
  const double half_width = 1.96 * std::sqrt(pairs) / 2;
  const auto ranked = [&](double rank) {
    return ratios[static_cast<std::size_t>(std::clamp(rank, 0.0, static_cast<double>(pairs - 1)))];
  };
  return {spread_of(bare).median,
          spread_of(ratios).median,
          ranked(pairs / 2.0 - half_width),
          ranked(pairs / 2.0 + half_width),
          spread_of(added).median,
          spread_of(bare).min,
          spread_of(full).min - spread_of(bare).min};
}

void report(team& team, std::int64_t width, std::int64_t steps, std::int64_t iterations, int pairs) {
  const cost seen = measure(team, width, steps, iterations, pairs);
  fmt::print(
      "{:>7} {:>7} {:<20} {:>9.1f} {:>7.1f}  {:+6.2f} % [{:+.2f}, {:+.2f}]  {:>9.1f} {:>7.1f}  {:+6.2f} %\n",
      team.threads(), width, iterations ? fmt::format("compute_bound {}", iterations) : "empty",
      seen.bare * 1e9, seen.added * 1e9, 100 * (seen.ratio - 1), 100 * (seen.low - 1), 100 * (seen.high - 1),
      seen.least * 1e9, seen.least_added * 1e9, 100 * seen.least_added / seen.least);
}

/// Two shapes: a column a core, as METG is measured, and sixteen columns on one core, where no thread waits.
/// The tasks are of the size of METG in that shape, or empty.
void report_all(std::int64_t steps, int pairs) {
  fmt::print("{:>7} {:>7} {:<20} {:>9} {:>7}  {:<25} {:>9} {:>7}  least\n", "threads", "columns", "kernel",
             "ns a task", "more", "median of pairs [95 %]", "ns a task", "more");
  const int cores = bench::usable_cores();
  team all(cores, cores);
  constexpr std::int64_t columns = 16;
  team one(1, columns);
  const std::int64_t metg_of_all = iterations_at_metg(all, cores, steps);
  const std::int64_t metg_of_one = iterations_at_metg(one, columns, steps);
  report(all, cores, steps, metg_of_all, pairs);
  report(one, columns, steps, metg_of_all, pairs);
  report(one, columns, steps, metg_of_one, pairs);
  report(all, cores, steps, 0, pairs);
  report(one, columns, steps, 0, pairs);
}

}  // namespace
}  // namespace teff::graphs

int main(int argc, char** argv) {
  int pairs = 501;
  std::int64_t steps = 1000;
  teff::bench::flag_parser flags(
      "What validation costs where tasks are smallest: at METG of the least overhead, and empty ones");
  flags.add("--pairs", pairs, "runs with and without [501]").within(9, 100000);
  flags.add("--steps", steps, "timesteps of a run [1000]").within(std::int64_t{10}, std::int64_t{10'000'000});
  if (const auto code = teff::graphs::read_command(flags, argc, argv)) return *code;
  teff::graphs::report_all(steps, pairs);
}
