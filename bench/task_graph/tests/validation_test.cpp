// Deliberately broken adapters: each fault has to be named.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "teff/graphs/record.hpp"

namespace teff::graphs {
namespace {

/// The damage of a broken adapter to a task that it is about to execute.
struct task {
  std::int64_t timestep;
  std::int64_t point;
  std::vector<std::byte>& output;
  std::vector<input>& inputs;
  int times = 1;
};

/// Executes a graph one task after the other, each after `meddle`.
record run_serially(const configuration& work, const std::function<void(task&)>& meddle) {
  workload load(work, 1);
  load.start();
  const dependence_table& table = load.table(0);
  const auto width = static_cast<std::size_t>(table.graph().width);
  std::vector<std::vector<std::byte>> before(
      width, std::vector<std::byte>(static_cast<std::size_t>(table.graph().output_bytes)));
  auto now = before;
  for (std::int64_t timestep = 0; timestep < table.graph().steps; ++timestep) {
    for (std::int64_t point = table.points(timestep).first; point <= table.points(timestep).last; ++point) {
      std::vector<input> inputs;
      for (const std::int64_t each : table.inputs(timestep, point))
        inputs.emplace_back(before[static_cast<std::size_t>(each)]);
      task next{timestep, point, now[static_cast<std::size_t>(point)], inputs};
      meddle(next);
      for (int i = 0; i < next.times; ++i) load.worker(0).execute(0, timestep, point, next.output, inputs);
    }
    std::swap(before, now);
  }
  load.stop();
  return validate({"test", "serial", "1"}, load, {outcome{load.done(), {}, 1, load.error()}}, "");
}

configuration stencil() {
  const std::vector<std::string> flags{"-type", "stencil_1d", "-steps", "6", "-width", "5", "-output", "48"};
  return parse_configuration(flags);
}

bool is_middle(const task& each) {
  return each.timestep == 3 && each.point == 2;
}

TEST(validation, passes_a_right_run_of_every_pattern) {
  for (const pattern& shape : patterns()) {
    for (const char* width : {"4", "7", "16"}) {
      const std::vector<std::string> flags{
          "-type",   std::string(shape.name),      "-steps", "9", "-width", width,
          "-period", shape.uses_period ? "2" : "0"};
      const record run = run_serially(parse_configuration(flags), [](task&) {});
      EXPECT_EQ(run.error, "") << shape.name << " width " << width;
      EXPECT_EQ(run.done, run.expected);
    }
  }
}

TEST(validation, is_told_in_the_report_with_the_system) {
  const std::string good = to_report(run_serially(stencil(), [](task&) {}));
  EXPECT_TRUE(good.ends_with("test/serial with 1 worker: every task and dependence validated\n")) << good;
  const std::string bad = to_report(run_serially(stencil(), [](task& each) {
    if (is_middle(each)) each.inputs.pop_back();
  }));
  EXPECT_NE(bad.find("NOT VALID: graph 0 timestep 3"), std::string::npos) << bad;
  EXPECT_EQ(bad.find("validated"), std::string::npos) << bad;
}

TEST(validation, names_a_dropped_dependence) {
  const record run = run_serially(stencil(), [](task& each) {
    if (is_middle(each)) each.inputs.pop_back();
  });
  EXPECT_EQ(run.error, "graph 0 timestep 3 point 2: 2 inputs where 3 are due; point 3 is missing");
}

TEST(validation, names_a_task_that_ran_twice) {
  const record run = run_serially(stencil(), [](task& each) { each.times = is_middle(each) ? 2 : 1; });
  EXPECT_EQ(run.error, "31 tasks ran where the graph has 30");
}

TEST(validation, notices_a_task_that_ran_in_the_place_of_another) {
  const record run = run_serially(stencil(), [](task& each) {
    if (each.timestep == 0) each.times = each.point == 0 ? 2 : each.point == 1 ? 0 : 1;
  });
  EXPECT_NE(run.error, "");
}

TEST(validation, names_a_corrupted_payload) {
  std::vector<std::byte> corrupted;
  const record run = run_serially(stencil(), [&](task& each) {
    if (!is_middle(each)) return;
    corrupted.assign(each.inputs[1].begin(), each.inputs[1].end());
    corrupted[40] = std::byte{99};
    each.inputs[1] = corrupted;
  });
  EXPECT_EQ(run.error,
            "graph 0 timestep 3 point 2: input 1 should be timestep 2 point 2, but its pair 2 says timestep "
            "2 point 99");
}

/// A graph of width 6 with two or more inputs at some tasks, but for the patterns that have fewer.
configuration small(const pattern& shape, const char* output) {
  const std::vector<std::string> flags{
      "-type",   std::string(shape.name),      "-steps", "9", "-width", "6", "-radix", "3", "-output", output,
      "-period", shape.uses_period ? "2" : "0"};
  return parse_configuration(flags);
}

struct fault {
  const char* name;
  std::size_t least_inputs;  ///< that a task must have to be afflicted
  std::function<void(task&, std::vector<std::byte>& spoilt)> afflict;
};

std::vector<fault> faults() {
  const auto spoil = [](task& each, std::vector<std::byte>& spoilt, std::size_t at, std::byte change) {
    spoilt.assign(each.inputs.back().begin(), each.inputs.back().end());
    spoilt[at] ^= change;
    each.inputs.back() = spoilt;
  };
  return {
      {"an input is missing", 1, [](task& each, auto&) { each.inputs.pop_back(); }},
      {"an input is there twice", 1, [](task& each, auto&) { each.inputs.push_back(each.inputs.back()); }},
      {"an input is in another's place", 2,
       [](task& each, auto&) { each.inputs.back() = each.inputs.front(); }},
      {"inputs are swapped", 2,
       [](task& each, auto&) { std::swap(each.inputs.back(), each.inputs.front()); }},
      {"an input is nothing", 1, [](task& each, auto&) { each.inputs.back() = {}; }},
      {"an input is short", 1, [](task& each, auto&) { each.inputs.back() = each.inputs.back().first(8); }},
      {"an input is stale", 1, [=](task& each, auto& spoilt) { spoil(each, spoilt, 0, std::byte{1}); }},
      {"an input is of another point", 1,
       [=](task& each, auto& spoilt) { spoil(each, spoilt, 8, std::byte{1}); }},
      {"an input's last byte is wrong", 1,
       [=](task& each, auto& spoilt) { spoil(each, spoilt, each.inputs.back().size() - 1, std::byte{128}); }},
  };
}

TEST(validation, names_every_fault_of_the_inputs_in_every_pattern_and_timestep) {
  for (const pattern& shape : patterns()) {
    for (const char* output : {"16", "80"}) {
      for (const fault& wrong : faults()) {
        for (std::int64_t timestep = 1; timestep < 9; ++timestep) {
          std::vector<std::byte> spoilt;
          bool afflicted = false;
          const record run = run_serially(small(shape, output), [&](task& each) {
            if (afflicted || each.timestep != timestep || each.inputs.size() < wrong.least_inputs) return;
            afflicted = true;
            wrong.afflict(each, spoilt);
          });
          if (!afflicted) continue;
          EXPECT_NE(run.error.find(fmt::format("graph 0 timestep {} point ", timestep)), std::string::npos)
              << shape.name << ", output " << output << ": " << wrong.name << " says '" << run.error << "'";
        }
      }
    }
  }
}

TEST(validation, names_inputs_at_the_first_timestep_and_tasks_that_are_not_there) {
  const std::vector<std::byte> bytes(16);
  for (const pattern& shape : patterns()) {
    const configuration work = small(shape, "16");
    const record first = run_serially(work, [&](task& each) {
      if (each.timestep == 0 && each.point == 0) each.inputs.emplace_back(bytes);
    });
    EXPECT_EQ(first.error, "graph 0 timestep 0 point 0: 1 inputs where 0 are due") << shape.name;
    for (const auto& [timestep, point] : std::vector<std::pair<int, int>>{{-1, 0}, {9, 0}, {1, -1}, {1, 6}}) {
      workload load(work, 1);
      std::vector<std::byte> output(16);
      load.worker(0).execute(0, timestep, point, output, {});
      EXPECT_EQ(load.error(),
                fmt::format("graph 0 timestep {} point {}: the graph has no such task", timestep, point))
          << shape.name;
    }
  }
}

TEST(validation, names_an_output_of_another_size) {
  const record run = run_serially(stencil(), [](task& each) {
    if (is_middle(each)) each.output.resize(32);
  });
  EXPECT_EQ(run.error, "graph 0 timestep 3 point 2: the output has room for 32 bytes in the place of 48");
}

/// The damage of a broken kernel elsewhere to a task's output; returns whether the adapter says that it
/// computed.
using kernel_elsewhere = std::function<bool(std::int64_t timestep, std::vector<std::byte>& output)>;

/// Executes a column of 6 tasks by the two halves of execute().
record run_halves(const kernel_elsewhere& kernel) {
  workload load(
      parse_configuration("-type no_comm -steps 6 -width 1 -output 48 -kernel compute_bound -iter 7"), 1);
  load.note_isa("elsewhere");
  load.start();
  std::vector<std::byte> before(48);
  std::vector<std::byte> output(48);
  for (std::int64_t timestep = 0; timestep < 6; ++timestep) {
    const input read(before);
    EXPECT_EQ(load.worker(0).begin(0, timestep, 0, std::span(&read, timestep > 0 ? 1 : 0)), 7);
    for (std::size_t at = 0; at < 48; at += sizeof(payload)) {
      const payload name{timestep, 0};
      std::memcpy(output.data() + at, &name, sizeof(name));
    }
    const bool computed = kernel(timestep, output);
    load.worker(0).end(0, timestep, 0, output, computed);
    std::swap(before, output);
  }
  load.stop();
  return validate({"test", "elsewhere", "1"}, load, {outcome{load.done(), {}, 1, load.error()}}, "");
}

TEST(a_kernel_elsewhere, is_counted_and_validated_as_one_on_a_core) {
  const record run = run_halves([](std::int64_t, std::vector<std::byte>&) { return true; });
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.done, run.expected);
  EXPECT_EQ(run.done.flops, 6 * (2 * 64 * 7 + 64));
  EXPECT_NE(to_json(run).find(R"("isa":"elsewhere")"), std::string::npos) << to_json(run);
}

TEST(a_kernel_elsewhere, that_did_not_run_is_seen_where_nobody_reads_its_output) {
  const record run = run_halves([](std::int64_t timestep, std::vector<std::byte>& output) {
    if (timestep == 5) output[40] = std::byte{1};  // in the last pair
    return true;
  });
  EXPECT_EQ(run.error, "graph 0 timestep 5 point 0: the kernel did not write the output");
}

TEST(a_kernel_elsewhere, that_computed_something_else_is_seen) {
  const record run = run_halves([](std::int64_t timestep, std::vector<std::byte>&) { return timestep != 2; });
  EXPECT_EQ(run.error, "graph 0 timestep 2 point 0: the kernel did not compute what it should");
}

TEST(a_kernel_elsewhere, that_has_not_ended_is_missed) {
  workload load(parse_configuration("-type trivial -steps 1 -width 2"), 1);
  const std::vector<std::byte> output(16);
  for (const std::int64_t point : {0, 1}) EXPECT_EQ(load.worker(0).begin(0, 0, point, {}), 0);
  load.worker(0).end(0, 0, 0, output, true);
  const record run =
      validate({"test", "elsewhere", "1"}, load, {outcome{load.done(), {}, 1, load.error()}}, "");
  EXPECT_EQ(run.error, "1 tasks ran where the graph has 2");
}

TEST(checksum, tells_all_tasks_apart_so_that_none_can_stand_in_for_another) {
  std::vector<std::uint64_t> weights;
  for (std::int64_t graph = 0; graph < 4; ++graph)
    for (std::int64_t timestep = 0; timestep < 500; ++timestep)
      for (std::int64_t point = 0; point < 200; ++point)
        weights.push_back(timestep_weight(timestep) * point_weight(graph, point));
  std::ranges::sort(weights);
  EXPECT_TRUE(std::ranges::adjacent_find(weights) == weights.end());
}

// The weight is a product, and timesteps and points lie in straight lines. Doubled and missing tasks must not
// cancel in the shapes that a wrong index makes.
TEST(checksum, is_left_by_tasks_exchanged_in_lines_and_rectangles) {
  const auto weight = [](std::int64_t timestep, std::int64_t point) {
    return timestep_weight(timestep) * point_weight(0, point);
  };
  for (std::int64_t t = 0; t < 40; ++t)
    for (std::int64_t p = 0; p < 40; ++p)
      for (std::int64_t dt = 1; dt < 8; ++dt)
        for (std::int64_t dp = 1; dp < 8; ++dp) {
          const std::uint64_t twice = weight(t, p) + weight(t + dt, p + dp);
          ASSERT_NE(twice, weight(t + dt, p) + weight(t, p + dp));
          ASSERT_NE(weight(t, p) + weight(t + 2 * dt, p), 2 * weight(t + dt, p));
          ASSERT_NE(weight(t, p) + weight(t, p + 2 * dp), 2 * weight(t, p + dp));
          ASSERT_NE(twice + weight(t + dt, p) + weight(t, p + dp), 2 * twice);
        }
}

TEST(checksum, tells_a_dependence_from_any_other) {
  const interval bounds{0, 99};
  std::vector<std::uint64_t> weights;
  for (std::int64_t first = 0; first < 100; ++first)
    for (std::int64_t last = first; last < 100; ++last) {
      const interval points{first, last};
      weights.push_back(inputs_weight(point_range(std::span(&points, 1), bounds)));
    }
  std::ranges::sort(weights);
  EXPECT_TRUE(std::ranges::adjacent_find(weights) == weights.end());
}

TEST(validation, names_an_input_in_the_place_of_another) {
  const record run = run_serially(stencil(), [](task& each) {
    if (is_middle(each)) std::swap(each.inputs[0], each.inputs[2]);
  });
  EXPECT_NE(run.error.find("input 0 should be timestep 2 point 1"), std::string::npos) << run.error;
}

TEST(validation, that_is_off_is_said_in_the_record) {
  configuration work = stencil();
  work.validate = false;
  const record run = run_serially(work, [](task&) {});
  EXPECT_EQ(run.error, "");
  EXPECT_NE(to_json(run).find(R"("validation":{"enabled":false,"passed":false)"), std::string::npos);
}

}  // namespace
}  // namespace teff::graphs
