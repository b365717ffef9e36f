#include "simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "cores.hpp"
#include "network.hpp"
#include "teff/bench/failure.hpp"
#include "teff/graphs/configuration.hpp"

namespace teff::simulated {
namespace {

/// A run that did exactly what its graphs ask for.
graphs::simulated_run run(const machine& on, int ranks, const std::string& flags, std::uint64_t seed = 1) {
  const graphs::workload work(graphs::parse_configuration(flags), 1);
  const graphs::simulated_run found = simulate(work, on, ranks, seed);
  EXPECT_EQ(found.done, work.expected()) << flags;
  return found;
}

/// Nodes of 4 cores in groups of 2 nodes, on which everything takes time, and nothing is ever late.
machine quiet() {
  machine one;
  one.name = "quiet";
  one.cores = 4;
  one.flop = 1e-6 / 64;  // an iteration of compute_bound is 128 of them, and a task has 64 more
  one.task = 1e-6;
  one.message = 2e-6;
  one.levels = {{.nodes = 1, .latency = 3e-6}, {.nodes = 2, .latency = 5e-6}, {.nodes = 0, .latency = 9e-6}};
  return one;
}

constexpr double work = 21e-6;  // of a task with 10 iterations
constexpr int steps = 50;

std::string flags(const std::string& type, int width, const std::string& more = "") {
  return "-type " + type + " -width " + std::to_string(width) + " -kernel compute_bound -iter 10 -steps " +
         std::to_string(steps) + " " + more;
}

/// A timestep after the first waits for k messages and for the slowest link between ranks that wait for each
/// other.
double closed_form(int messages, double latency) {
  return steps * (1e-6 + work) + (steps - 1) * (messages * 2e-6 + latency);
}

TEST(a_quiet_machine, takes_the_time_of_its_closed_form) {
  EXPECT_NEAR(run(quiet(), 4, flags("stencil_1d", 4)).seconds, closed_form(2, 3e-6), 1e-15);
  EXPECT_NEAR(run(quiet(), 8, flags("stencil_1d", 8)).seconds, closed_form(2, 5e-6), 1e-15);
  EXPECT_NEAR(run(quiet(), 64, flags("stencil_1d", 64)).seconds, closed_form(2, 9e-6), 1e-15);
  EXPECT_NEAR(run(quiet(), 64, flags("nearest", 64, "-radix 5")).seconds, closed_form(4, 9e-6), 1e-15);
  EXPECT_NEAR(run(quiet(), 64, flags("spread", 64, "-radix 5")).seconds, closed_form(4, 9e-6), 1e-15);
  EXPECT_NEAR(run(quiet(), 64, flags("trivial", 64)).seconds, steps * (1e-6 + work), 1e-15);
}

TEST(a_quiet_machine, pays_for_the_bytes_of_messages) {
  machine one = quiet();
  one.message_byte = 1e-9;
  one.levels = {{.latency = 3e-6, .byte = 2e-9}};
  EXPECT_NEAR(run(one, 4, flags("stencil_1d", 4, "-output 1000")).seconds, closed_form(2, 3e-6 + 2e-6 + 2e-6),
              1e-15);
}

TEST(a_rank_with_several_points, sends_an_output_once_and_pays_for_the_inputs_that_it_has) {
  machine one = quiet();
  one.dependence = 1e-7;
  // Two ranks: each has 4 of the inputs of its two points, and sends one message a timestep. The second rank
  // is behind the first by a latency, which both hide behind their other point.
  EXPECT_NEAR(run(one, 2, flags("stencil_1d", 4)).seconds,
              steps * 2 * (1e-6 + work) + (steps - 1) * (4 * 1e-7 + 2e-6) + 3e-6, 1e-15);
}

TEST(a_graph, that_has_too_many_dependences_for_the_memory_is_refused) {
  EXPECT_THROW((void)run(quiet(), 20'000, flags("all_to_all", 20'000)), std::invalid_argument);
}

TEST(graphs_that_run_at_once, hide_each_others_latency) {
  const std::string one = flags("stencil_1d", 4);
  const double alone = run(quiet(), 4, one).seconds;
  const double both = run(quiet(), 4, one + "-and " + one).seconds;
  EXPECT_LT(both, 2 * alone - (steps - 2) * 2 * 3e-6 + 1e-9);
  EXPECT_GE(both, steps * 2 * (1e-6 + work));
}

TEST(every_pattern, is_run_exactly_on_any_number_of_ranks) {
  machine one = quiet();
  one.noise = {{.rate = 4000, .length = 1e-5}};
  one.levels[0].gap = 1e-6;
  for (const graphs::pattern& each : graphs::patterns())
    for (const int ranks : {1, 3, 12, 40})
      EXPECT_GT(run(one, ranks, flags(std::string(each.name), 17) + "-and " + flags("fft", 8)).seconds, 0);
}

TEST(detours, delay_a_core_that_works_and_are_absorbed_by_one_that_waits) {
  machine one = quiet();
  one.noise = {{.rate = 4 * 1000, .length = 1e-4}};  // a thousand a second and core
  const double alone =
      run(one, 4, flags("trivial", 4)).seconds / run(quiet(), 4, flags("trivial", 4)).seconds;
  EXPECT_GT(alone, 1.05);
  cores all(one, 1, 7);
  double worked = 0;
  for (int i = 0; i < 100'000; ++i) worked = all.end_of(0, worked, 1e-6);
  EXPECT_NEAR(worked, 0.1 * 1.1, 0.004);  // a tenth more: 1000 x 0.1 ms a second that it works
  cores idle(one, 1, 7);
  double late = 0;
  for (int i = 1; i <= 100; ++i) late += idle.end_of(0, i * 1e-1, 1e-9) - i * 1e-1;
  EXPECT_LT(late, 100 * 2e-5);  // it waits for them, but for the last one's rest
}

TEST(detours, are_the_same_for_the_same_seed_only) {
  machine one = quiet();
  one.noise = {{.rate = 400, .length = 1e-4}};
  const std::string graph = flags("stencil_1d", 64);
  EXPECT_EQ(run(one, 64, graph, 5).seconds, run(one, 64, graph, 5).seconds);
  EXPECT_NE(run(one, 64, graph, 5).seconds, run(one, 64, graph, 6).seconds);
}

TEST(late_messages, are_as_many_as_the_machine_says_and_only_between_nodes) {
  machine one = quiet();
  one.late = {.share = 0.01, .length = 1e-3};
  network across(one, 8, 3);
  double late = 0;
  for (int i = 0; i < 100'000; ++i) late += across.arrival({0, 0, 4, 0}, 16) - 5e-6;
  EXPECT_NEAR(late, 1.0, 0.2);
  EXPECT_EQ(across.arrival({0, 0, 3, 0}, 16), 3e-6);
}

TEST(messages_that_leave_a_node, wait_for_each_other) {
  machine one = quiet();
  one.levels[0].gap = 1e-6;
  one.levels[1].shared_byte = 1e-6 / 16;
  network across(one, 16, 1);
  std::vector<message> all{{2e-6, 0, 4, 0}, {1e-6, 1, 4, 1}, {1e-6, 4, 0, 2}, {2e-6, 2, 3, 3}, {0, 3, 8, 4}};
  std::vector<double> arrived(all.size());
  across.arrivals(all, 16, arrived);
  EXPECT_NEAR(arrived[4], 0 + 9e-6, 1e-15);     // the first of its node, and of its group
  EXPECT_NEAR(arrived[1], 1e-6 + 5e-6, 1e-15);  // just after it
  EXPECT_NEAR(arrived[0], 2e-6 + 5e-6, 1e-15);
  EXPECT_NEAR(arrived[2], 1e-6 + 5e-6, 1e-15);  // of the other node
  EXPECT_NEAR(arrived[3], 2e-6 + 3e-6, 1e-15);  // within the node
  all = {{0, 0, 4, 0}, {0, 1, 5, 1}, {0, 2, 6, 2}};
  across.arrivals(all, 16, arrived);
  EXPECT_NEAR(*std::max_element(arrived.begin(), arrived.begin() + 3), 2e-6 + 5e-6, 1e-15);
}

TEST(the_peak, is_the_work_alone) {
  const graphs::workload load(graphs::parse_configuration(flags("trivial", 8)), 1);
  const graphs::simulated_run found = compute_only(load, quiet(), 8);
  EXPECT_NEAR(found.seconds, steps * work, 1e-15);
  EXPECT_EQ(found.done, load.expected());
}

TEST(a_kernel, that_the_machine_has_no_time_of_is_refused) {
  const graphs::workload load(
      graphs::parse_configuration("-kernel memory_bound -scratch 65536 -iter 1 -sample 16"), 1);
  EXPECT_THROW((void)compute_only(load, quiet(), 4), std::invalid_argument);
}

TEST(a_machine, is_read_from_json_and_an_unknown_name_is_refused) {
  const machine one = read_machine(
      R"({"name": "a", "cores": 2, "levels": [{"latency": 1}, {"nodes": 4, "gap": 2}], "late": {"share": 0.5},
          "detours": [{"rate": 3, "length": 4}], "seed": 9})");
  EXPECT_EQ(one.cores, 2);
  EXPECT_EQ(one.levels.at(1).gap, 2);
  EXPECT_EQ(one.late.share, 0.5);
  EXPECT_EQ(one.noise.at(0).length, 4);
  EXPECT_EQ(one.seed, 9U);
  EXPECT_THROW((void)read_machine(R"({"core": 2})"), bench::usage_error);
  EXPECT_THROW((void)read_machine(R"({"cores": "two"})"), bench::usage_error);
  EXPECT_THROW((void)read_machine("no"), bench::usage_error);
}

}  // namespace
}  // namespace teff::simulated
