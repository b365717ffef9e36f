#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "teff/graphs/dependence_table.hpp"
#include "teff/graphs/task_graph.hpp"
#include "teff/graphs/task_rows.hpp"

namespace teff::graphs {
namespace {

using point_set = std::set<std::int64_t>;

point_set dependencies(const task_graph& graph, std::int64_t timestep, std::int64_t point) {
  point_set points;
  graph.for_each_dependency(timestep, point, [&](interval each) {
    for (std::int64_t input = each.first; input <= each.last; ++input)
      EXPECT_TRUE(points.insert(input).second) << "point " << input << " twice";
  });
  return points;
}

point_set reverse_dependencies(const task_graph& graph, std::int64_t timestep, std::int64_t point) {
  point_set points;
  graph.for_each_reverse_dependency(timestep, point, [&](interval each) {
    for (std::int64_t consumer = each.first; consumer <= each.last; ++consumer)
      EXPECT_TRUE(points.insert(consumer).second) << "point " << consumer << " twice";
  });
  return points;
}

task_graph make_graph(std::string_view pattern, std::int64_t steps, std::int64_t width) {
  task_graph graph;
  graph.pattern = find_pattern(pattern);
  graph.steps = steps;
  graph.width = width;
  if (graph.pattern->uses_period) graph.period = 1;
  return graph;
}

/// A random graph of this pattern that check() accepts.
task_graph draw_graph(const pattern& shape, std::mt19937_64& random) {
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (;;) {
    task_graph graph = make_graph(shape.name, draw(1, 12), draw(1, 40));
    graph.index = draw(0, 3);
    graph.radix = draw(0, 9);
    if (shape.uses_period) graph.period = draw(1, 5);
    graph.fraction = static_cast<double>(draw(0, 4)) / 4;
    if (graph.check().empty()) return graph;
  }
}

TEST(every_pattern, has_reverse_dependencies_that_mirror_its_dependencies) {
  const std::uint64_t seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (const pattern& shape : patterns()) {
    for (int round = 0; round < 60; ++round) {
      const task_graph graph = draw_graph(shape, random);
      SCOPED_TRACE(testing::Message()
                   << shape.name << " steps " << graph.steps << " width " << graph.width << " radix "
                   << graph.radix << " period " << graph.period << " seed " << seed);
      for (std::int64_t timestep = 0; timestep < graph.steps; ++timestep) {
        std::map<std::int64_t, point_set> mirrored;
        const interval before = graph.points(timestep - 1);
        for (std::int64_t point = before.first; point <= before.last; ++point)
          for (const std::int64_t consumer : reverse_dependencies(graph, timestep - 1, point))
            mirrored[consumer].insert(point);
        const interval points = graph.points(timestep);
        ASSERT_GT(points.size(), 0);
        for (std::int64_t point = points.first; point <= points.last; ++point) {
          ASSERT_EQ(dependencies(graph, timestep, point), mirrored[point])
              << "at timestep " << timestep << " point " << point;
          mirrored.erase(point);
        }
        ASSERT_TRUE(mirrored.empty()) << "a consumer that does not exist, at timestep " << timestep;
      }
      if (HasFatalFailure()) return;
    }
  }
}

TEST(dependence_table, answers_as_the_graph_does) {
  const std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random(seed);
  for (const pattern& shape : patterns()) {
    for (int round = 0; round < 50; ++round) {
      const task_graph graph = draw_graph(shape, random);
      const dependence_table table(graph);
      for (std::int64_t timestep = 0; timestep < graph.steps; ++timestep) {
        const interval points = graph.points(timestep);
        for (std::int64_t point = points.first; point <= points.last; ++point) {
          const point_range inputs = table.inputs(timestep, point);
          const point_range consumers = table.consumers(timestep, point);
          ASSERT_EQ(point_set(inputs.begin(), inputs.end()), dependencies(graph, timestep, point))
              << shape.name << " seed " << seed;
          ASSERT_EQ(point_set(consumers.begin(), consumers.end()),
                    reverse_dependencies(graph, timestep, point))
              << shape.name << " seed " << seed;
          ASSERT_EQ(inputs.size(), std::distance(inputs.begin(), inputs.end()));
        }
      }
    }
  }
}

TEST(every_pattern, of_steady_width_takes_its_dependence_sets_in_a_cycle) {
  const std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random(seed);
  for (const pattern& shape : patterns()) {
    if (shape.varying_width) continue;
    const task_graph graph = draw_graph(shape, random);
    const std::int64_t sets = graph.dependence_sets();
    std::set<std::int64_t> seen;
    for (std::int64_t timestep = 0; timestep < sets; ++timestep) {
      seen.insert(graph.dependence_set(timestep));
      ASSERT_EQ(graph.dependence_set(timestep), graph.dependence_set(timestep + sets))
          << shape.name << " seed " << seed;
    }
    ASSERT_EQ(std::ssize(seen), sets) << shape.name << " seed " << seed;
  }
}

/// A row for the test: the inputs of a task, and the readers of the outputs that it overwrites.
struct dependences {
  std::vector<std::pair<std::int64_t, std::int64_t>> inputs;
  std::vector<std::int64_t> readers;

  friend bool operator==(const dependences&, const dependences&) = default;
};

TEST(task_rows, are_what_a_task_would_look_up) {
  const std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random(seed);
  for (const pattern& shape : patterns())
    for (const std::int64_t kept : {1, 2, 3, 8}) {
      task_graph graph = draw_graph(shape, random);
      graph.steps = 60;
      const dependence_table table(graph);
      std::int64_t made = 0;
      const auto make = [&](std::int64_t timestep, std::int64_t point, dependences& row) {
        ++made;
        row = {};
        for (const std::int64_t each : table.inputs(timestep, point))
          row.inputs.emplace_back((timestep - 1) % kept, each);
        if (timestep >= kept)
          for (const std::int64_t each : table.consumers(timestep - kept, point)) row.readers.push_back(each);
      };
      const task_rows<dependences> rows(table, {0, graph.width - 1}, kept, make);
      dependences scratch, expected;
      std::int64_t asked = 0;
      for (std::int64_t timestep = 0; timestep < graph.steps; ++timestep) {
        const interval points = graph.points(timestep);
        for (std::int64_t point = points.first; point <= points.last; ++point) {
          const std::int64_t before = made;
          const dependences& row = rows.at(timestep, point, scratch, make);
          asked += made - before;
          make(timestep, point, expected);
          ASSERT_EQ(row, expected) << shape.name << " kept " << kept << " timestep " << timestep << " point "
                                   << point << " seed " << seed;
        }
      }
      if (!shape.varying_width) {
        EXPECT_EQ(asked, kept * graph.width) << shape.name;
      }
    }
}

TEST(task_rows, of_a_graph_too_large_are_made_when_asked_for) {
  const task_graph graph = make_graph("all_to_all", 4, 800);
  const dependence_table table(graph);
  int made = 0;
  const auto count = [&](std::int64_t, std::int64_t, int& row) { row = ++made; };
  const task_rows<int> rows(table, {0, graph.width - 1}, 2, count);
  EXPECT_EQ(made, 0);
  int scratch = 0;
  EXPECT_EQ(rows.at(2, 0, scratch, count), 1);
}

TEST(fft, joins_butterflies_of_doubling_stride) {
  const task_graph graph = make_graph("fft", 9, 8);
  EXPECT_EQ(dependencies(graph, 1, 0), (point_set{0, 1}));
  EXPECT_EQ(dependencies(graph, 2, 3), (point_set{1, 3, 5}));
  EXPECT_EQ(dependencies(graph, 3, 5), (point_set{1, 5}));
  EXPECT_EQ(dependencies(graph, 4, 5), (point_set{4, 5, 6}));
}

TEST(spread, shifts_its_points_with_the_dependence_set) {
  task_graph graph = make_graph("spread", 9, 12);
  graph.radix = 3;
  graph.period = 3;
  EXPECT_EQ(dependencies(graph, 3, 0), (point_set{0, 4, 8}));
  EXPECT_EQ(dependencies(graph, 1, 0), (point_set{0, 5, 9}));
  EXPECT_EQ(dependencies(graph, 2, 11), (point_set{11, 5, 9}));
}

TEST(tree_in_out, ends_its_cycle_in_the_root) {
  const task_graph graph = make_graph("tree_in_out", 7, 8);
  std::vector<std::int64_t> widths;
  for (std::int64_t timestep = 0; timestep < 7; ++timestep) widths.push_back(graph.points(timestep).size());
  EXPECT_EQ(widths, (std::vector<std::int64_t>{1, 2, 4, 8, 4, 2, 1}));
  EXPECT_EQ(dependencies(graph, 4, 3), (point_set{6, 7}));
}

TEST(stencil_1d_periodic, depends_on_each_point_once_at_widths_one_and_two) {
  EXPECT_EQ(dependencies(make_graph("stencil_1d_periodic", 3, 1), 1, 0), (point_set{0}));
  EXPECT_EQ(dependencies(make_graph("stencil_1d_periodic", 3, 2), 1, 1), (point_set{0, 1}));
}

TEST(every_pattern, answers_for_huge_graphs_without_overflow) {
  for (const pattern& shape : patterns()) {
    task_graph graph = make_graph(shape.name, std::int64_t{1} << 61, std::int64_t{1} << 62);
    ASSERT_EQ(graph.check(), "") << shape.name;
    for (const std::int64_t timestep : {std::int64_t{1}, graph.steps / 2, graph.steps - 1}) {
      const interval points = graph.points(timestep);
      graph.for_each_dependency(timestep, points.last, [&](interval each) {
        EXPECT_GE(each.first, 0) << shape.name;
        EXPECT_LT(each.last, graph.width) << shape.name;
      });
    }
  }
}

}  // namespace
}  // namespace teff::graphs
