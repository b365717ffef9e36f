// oneTBB programs of known accounts: tasks CASE [LENGTH of a body in us] [NUMBER of bodies] [ITERATIONS]. It
// prints how many bodies ran, their nanoseconds, and the nanoseconds from the first region's begin to the
// last one's end, without the time outside of regions between them. A body spins as in programs.c.
#include <tbb/blocked_range.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

double length;
long number, iterations;
double outside = 0;  // of regions

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

void spin(double time) {
  if (iterations > 0) {
    for (long i = 0; i < iterations; ++i) asm volatile("");
    return;
  }
  const double end = now() + time;
  while (now() < end) {
  }
}

using range = tbb::blocked_range<long>;

long loop() {
  tbb::parallel_for(range(0, number), [](const range&) { spin(length); }, tbb::simple_partitioner());
  return number;
}

long grains() {  // of four to seven iterations
  std::atomic<long> bodies{0};
  tbb::parallel_for(
      range(0, 7 * number, 7),
      [&](const range&) {
        ++bodies;
        spin(length);
      },
      tbb::simple_partitioner());
  return bodies;
}

long reduce() {
  const auto add = [](const range& part, long sum) {
    return spin(length), sum + static_cast<long>(part.size());
  };
  return tbb::parallel_reduce(range(0, number), 0L, add, std::plus<long>(), tbb::simple_partitioner());
}

long recurse(int depth) {
  spin(length);
  if (depth == 0) return 0;
  long left = 0, right = 0;
  tbb::task_group both;
  both.run([&] { left = recurse(depth - 1); });
  both.run([&] { right = recurse(depth - 1); });
  both.wait();
  return left + right + 2;
}

long recursion() {  // the root is no task, but as long
  int depth = 0;
  while ((2L << (depth + 1)) - 2 <= number) ++depth;
  return recurse(depth);
}

long nested() {
  tbb::parallel_for(
      0L, number / 10,
      [](long) {
        tbb::parallel_for(range(0, 9), [](const range&) { spin(length); }, tbb::simple_partitioner());
        spin(length);
      },
      tbb::simple_partitioner());
  return number / 10 * 10;
}

long graph() {
  using namespace tbb::flow;
  const double begin = now();
  static tbb::flow::graph whole;
  static function_node<long, long> first(whole, unlimited, [](long i) { return spin(length), i; });
  static function_node<long, long> second(whole, unlimited, [](long i) { return spin(length), i; });
  make_edge(first, second);
  outside += now() - begin;
  for (long i = 0; i < number / 2; ++i) first.try_put(i);
  whole.wait_for_all();
  return number / 2 * 2;
}

long pipeline() {
  long given = 0;
  const auto give = [&](tbb::flow_control& control) {
    if (given == number) control.stop();
    return given++;
  };
  tbb::parallel_pipeline(
      4, tbb::make_filter<void, long>(tbb::filter_mode::serial_in_order, give) &
             tbb::make_filter<long, void>(tbb::filter_mode::parallel, [](long) { spin(length); }));
  return number;
}

long parted() {  // a task for which nobody waits, and a time outside of regions after it
  tbb::task_group never;
  never.run([] { spin(length); });
  const double begin = now();
  spin(number * length);
  outside += now() - begin;
  loop();
  never.wait();
  return number + 1;
}

long producer() {  // a task takes half as long as to make it
  tbb::task_group all;
  for (long i = 0; i < number; ++i) {
    spin(length);
    all.run([] { spin(length / 2); });
  }
  all.wait();
  return number;
}

long imbalance() {  // one task is long
  tbb::parallel_for(0L, 2L, [](long i) { spin(i == 0 ? length : 3 * length); }, tbb::simple_partitioner());
  return 4;
}

long phases() {  // regions, and a time outside of them after each
  for (long i = 0; i < number / 20; ++i) {
    tbb::parallel_for(range(0, 20), [](const range&) { spin(length); }, tbb::simple_partitioner());
    const double begin = now();
    spin(10 * length);
    outside += now() - begin;
  }
  return number / 20 * 20;
}

long thrown() {
  for (long i = 0; i < number / 20; ++i) {
    try {
      tbb::parallel_for(
          0L, 20L,
          [](long one) {
            spin(length);
            if (one == 19) throw 1;
          },
          tbb::simple_partitioner());
    } catch (int) {
    }
  }
  return number / 20;
}

long enqueued() {
  std::atomic<long> ended{0};
  tbb::task_arena arena(2);
  for (long i = 0; i < number; ++i) {
    arena.enqueue([&] {
      spin(length);
      ++ended;
    });
  }
  while (ended < number) {
  }
  return number;
}

void begin_both_threads() {
  std::atomic<int> begun{0};
  tbb::parallel_for(
      0, 2,
      [&](int) {
        ++begun;
        while (begun < 2) {
        }
      },
      tbb::simple_partitioner());
}

struct named {
  const char* name;
  long (*run)();
};
#define CASE(name) {#name, name}
constexpr named cases[] = {CASE(loop),   CASE(grains),   CASE(reduce),  CASE(recursion), CASE(nested),
                           CASE(graph),  CASE(pipeline), CASE(parted),  CASE(producer),  CASE(imbalance),
                           CASE(phases), CASE(thrown),   CASE(enqueued)};

}  // namespace

int main(int count, char** words) {
  length = count > 2 ? std::atof(words[2]) * 1e3 : 1e5;
  number = count > 3 ? std::atol(words[3]) : 200;
  iterations = count > 4 ? std::atol(words[4]) : 0;
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 2);
  for (const named& one : cases) {
    if (count < 2 || std::strcmp(words[1], one.name) != 0) continue;
    tbb::task_arena(2).execute([] {});  // oneTBB begins here
    const double begin = now();
    begin_both_threads();
    const long bodies = one.run();
    std::printf("{\"bodies\": %ld, \"work\": %.0f, \"wall\": %.0f}\n", bodies,
                static_cast<double>(bodies) * length, now() - begin - outside);
    return 0;
  }
  return 2;
}
