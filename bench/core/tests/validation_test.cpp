// Deliberately broken adapters: each fault has to be named.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "teff/bench/record.hpp"

namespace teff::bench {
namespace {

/// What a broken adapter does to a task that it is about to execute.
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
  return judge({"test", "serial", "1"}, load, {outcome{load.done(), {}, 1, load.error()}}, "");
}

configuration stencil() {
  const std::vector<std::string> flags{"-type", "stencil_1d", "-steps", "6", "-width", "5", "-output", "48"};
  return parse_command(flags).work;
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
      const record run = run_serially(parse_command(flags).work, [](task&) {});
      EXPECT_EQ(run.error, "") << shape.name << " width " << width;
      EXPECT_EQ(run.done, run.expected);
    }
  }
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
}  // namespace teff::bench
