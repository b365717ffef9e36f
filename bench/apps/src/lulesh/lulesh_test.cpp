#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <random>
#include <ranges>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "app_in_tests.hpp"
#include "lulesh/domain.hpp"
#include "lulesh/hexahedron.hpp"
#include "lulesh/kernels.hpp"
#include "lulesh/known.hpp"
#include "lulesh/neighbours.hpp"
#include "lulesh/time_step.hpp"
#include "teff/bench/failure.hpp"
#include "ways_over_threads.hpp"

namespace teff::apps::lulesh {
namespace {

/// One call for the whole range.
auto whole(domain& at) {
  return [&at](index count, auto* kernel) { kernel(at, 0, count); };
}

/// Chunks of random sizes, in random order.
auto chunks(domain& at, std::mt19937& random, index greatest) {
  return [&at, &random, greatest](index count, auto* kernel) {
    std::vector<index> ends{0};
    while (ends.back() < count)
      ends.push_back(
          std::min(count, ends.back() + std::uniform_int_distribution<index>(1, greatest)(random)));
    std::vector<std::size_t> order(ends.size() - 1);
    std::ranges::copy(std::views::iota(std::size_t{0}, order.size()), order.begin());
    std::ranges::shuffle(order, random);
    for (const std::size_t each : order) kernel(at, ends[each], ends[each + 1]);
  };
}

/// Chunks that threads take and run at the same time.
auto threads(domain& at, index size) {
  return [&at, size](index count, auto* kernel) {
    std::atomic<index> next = 0;
    const auto take = [&] {
      for (index begin = next.fetch_add(size); begin < count; begin = next.fetch_add(size))
        kernel(at, begin, std::min(count, begin + size));
    };
    const std::array<std::jthread, 3> all{std::jthread(take), std::jthread(take), std::jthread(take)};
  };
}

template <class Loop>
void run(domain& at, Loop&& loop, int steps = 1000) {
  while (at.clock.time < stop_time && at.clock.steps < steps) step(at, loop);
}

/// The domain at the end of a run in one piece.
const domain& ended(index edge) {
  static std::array<std::unique_ptr<domain>, 64> all;
  auto& found = all[static_cast<std::size_t>(edge)];
  if (!found) {
    found = std::make_unique<domain>(setting{.edge = edge});
    run(*found, whole(*found));
  }
  return *found;
}

double sum_of_products(values a, values b) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double internal_energy(const domain& at) {
  return sum_of_products(at.energy, at.rest_volume);
}

double kinetic_energy(const domain& at) {
  double sum = 0;
  for (const values& each : {at.velocity.x, at.velocity.y, at.velocity.z})
    for (std::size_t node = 0; node < each.size(); ++node)
      sum += 0.5 * at.node_mass[node] * each[node] * each[node];
  return sum;
}

void expect_equal(double value, double expected, double tolerance = 1e-10) {
  EXPECT_NEAR(value, expected, tolerance * std::abs(expected));
}

void expect_known(index edge) {
  const known& that = *std::ranges::find(all_known, edge, &known::edge);
  const domain& at = ended(that.edge);
  EXPECT_EQ(at.clock.steps, that.steps);
  expect_equal(at.energy[0], that.origin_energy);
  expect_equal(internal_energy(at), that.internal_energy);
  expect_equal(sum_of_products(at.volume, at.rest_volume), that.volume);
  expect_equal(kinetic_energy(at), that.kinetic_energy);
  expect_equal(at.clock.step, that.last_step);
}

TEST(lulesh, ends_as_the_published_program_does) {
  for (const index edge : {5, 10}) expect_known(edge);
}

#ifdef NDEBUG  // minutes without optimisation
TEST(lulesh, of_twenty_elements_an_edge_ends_as_the_published_program_does) {
  expect_known(20);
}

// Ten seconds: it runs only if it is asked for, with --gtest_also_run_disabled_tests.
TEST(lulesh, DISABLED_of_thirty_elements_an_edge_ends_as_the_published_program_does) {
  expect_known(30);
}
#endif

TEST(lulesh, is_where_the_published_program_is_after_ten_steps) {
  domain at({.edge = 10});
  expect_equal(at.clock.step, 6.042222e-5, 1e-6);
  run(at, whole(at), 10);
  expect_equal(at.energy[0], 2.596764195552e5);
  expect_equal(at.clock.time, 2.769362567403e-4);
}

TEST(lulesh, has_the_same_bits_however_its_loops_are_cut) {
  const domain& expected = ended(6);
  for (const index greatest : {3, 17, 100}) {
    domain at({.edge = 6});
    std::mt19937 random(static_cast<unsigned>(greatest));
    run(at, chunks(at, random, greatest));
    EXPECT_EQ(at.clock.steps, expected.clock.steps);
    EXPECT_TRUE(std::ranges::equal(at.energy, expected.energy)) << greatest;
    EXPECT_TRUE(std::ranges::equal(at.position.x, expected.position.x)) << greatest;
    EXPECT_TRUE(std::ranges::equal(at.velocity.z, expected.velocity.z)) << greatest;
  }
}

TEST(lulesh, has_the_same_bits_if_threads_run_its_chunks_at_the_same_time) {
  const domain& expected = ended(6);
  domain at({.edge = 6});
  run(at, threads(at, 20));
  EXPECT_EQ(at.clock.steps, expected.clock.steps);
  EXPECT_TRUE(std::ranges::equal(at.energy, expected.energy));
}

TEST(lulesh, has_the_same_bits_whatever_its_regions_cost) {
  const domain& expected = ended(6);
  for (const region_setting& regions :
       {region_setting{.count = 1}, region_setting{.count = 21, .balance = 2, .cost = 3}}) {
    domain at({.edge = 6, .regions = regions});
    run(at, whole(at));
    EXPECT_TRUE(std::ranges::equal(at.energy, expected.energy)) << regions.count;
  }
}

TEST(lulesh, names_the_neighbours_of_a_chunk) {
  using set = std::set<index>;
  const domain at({.edge = 4});
  const auto each_once = [](const std::vector<index>& found) { return set(found.begin(), found.end()); };
  set nodes;
  set elements;
  for (const index k : {1, 2})
    for (const index j : {1, 2})
      for (const index i : {1, 2}) {
        nodes.insert(at.node(i, j, k));
        elements.insert(at.element(i, j, k));
      }
  const index inside = at.element(1, 1, 1);
  EXPECT_EQ(each_once(nodes_of(at, {inside, inside + 1})), nodes);
  EXPECT_EQ(each_once(elements_at(at, {at.node(2, 2, 2), at.node(3, 2, 2)})), elements);
  EXPECT_EQ(each_once(elements_at(at, {at.node(4, 4, 4), at.nodes})), (set{at.element(3, 3, 3)}));
  EXPECT_EQ(each_once(elements_beside(at, {inside, inside + 1})),
            (set{inside, inside - 1, inside + 1, at.element(1, 0, 1), at.element(1, 2, 1),
                 at.element(1, 1, 0), at.element(1, 1, 2)}));
  EXPECT_EQ(each_once(elements_beside(at, {0, 1})), (set{0, 1, at.element(0, 1, 0), at.element(0, 0, 1)}));
}

TEST(lulesh, has_regions_that_cover_all_elements_and_repeat_as_published) {
  const std::vector<region_run> runs = make_regions({}, 27000, 0);
  index end = 0;
  for (const region_run& each : runs) {
    EXPECT_EQ(each.begin, end);
    EXPECT_LT(each.begin, each.end);
    EXPECT_EQ(each.repetitions, each.region < 5 ? 1 : each.region < 10 ? 2 : 20);
    end = each.end;
  }
  EXPECT_EQ(end, 27000);
}

TEST(lulesh, spreads_the_blast_alike_along_all_axes) {
  const domain& at = ended(10);
  const double greatest = *std::ranges::max_element(at.energy);
  for (index k = 0; k < at.at.edge; ++k)
    for (index j = 0; j < at.at.edge; ++j)
      for (index i = 0; i < at.at.edge; ++i) {
        const auto energy = [&at](index x, index y, index z) {
          return at.energy[static_cast<std::size_t>(at.element(x, y, z))];
        };
        EXPECT_NEAR(energy(i, j, k), energy(j, i, k), 1e-8 * greatest);
        EXPECT_NEAR(energy(i, j, k), energy(k, j, i), 1e-8 * greatest);
      }
}

TEST(lulesh, keeps_volumes_positive_and_gains_no_energy) {
  domain at({.edge = 8});
  double before = internal_energy(at);
  while (at.clock.time < stop_time && at.clock.steps < 300) {
    step(at, whole(at));
    const double after = internal_energy(at) + kinetic_energy(at);
    EXPECT_LE(after, before * 1.001) << at.clock.steps;
    before = std::min(before, after);
    EXPECT_GT(*std::ranges::min_element(at.volume), 0);
  }
}

TEST(lulesh, refuses_to_go_on_with_an_element_turned_inside_out) {
  domain at({.edge = 4});
  run(at, whole(at), 2);
  at.position.x[static_cast<std::size_t>(at.node(2, 2, 2))] = 9;
  step(at, whole(at));
  EXPECT_THROW(step(at, whole(at)), std::runtime_error);
}

TEST(lulesh, knows_how_a_volume_changes_as_a_corner_moves) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> some(-0.2, 0.2);
  hexahedron<double> at{
      {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}};
  for (auto& each : at) each = each + vec<double>{some(random), some(random), some(random)};
  const hexahedron<double> gradient = volume_gradient(at, areas_at_corners(at));
  for (std::size_t corner = 0; corner < 8; ++corner)
    for (double vec<double>::* const component : {&vec<double>::x, &vec<double>::y, &vec<double>::z}) {
      hexahedron<double> moved = at;
      moved[corner].*component += 0.5;  // the volume is linear in each coordinate
      EXPECT_NEAR(volume(moved) - volume(at), 0.5 * gradient[corner].*component, 1e-14);
    }
}

/// Domains that are one cube. step() brings the messages between them.
class parts_of_cube {
 public:
  parts_of_cube(index edge, int along_edge) {
    for (int rank = 0; rank < along_edge * along_edge * along_edge; ++rank)
      parts_.push_back(std::make_unique<domain>(setting{
          .edge = edge,
          .parts = along_edge,
          .place = {rank % along_edge, rank / along_edge % along_edge, rank / along_edge / along_edge}}));
  }

  [[nodiscard]] const auto& all() const { return parts_; }

  void step() {
    step_limits least;
    for (const auto& each : parts_)
      std::ranges::transform(each->limits.all(), least.all(), least.all().begin(),
                             [](double a, double b) { return std::min(a, b); });
    for (const auto& each : parts_) {
      each->limits = least;
      begin_step(*each);
      push_corners(*each, 0, each->elements);
    }
    deliver(&domain::of_forces);
    for (const auto& each : parts_) {
      sum_forces(*each, 0, each->nodes);
      move_nodes(*each, 0, each->nodes);
      deform_elements(*each, 0, each->elements);
    }
    deliver(&domain::of_spreads);
    for (const auto& each : parts_) {
      limit_viscosity(*each, 0, each->elements);
      update_material(*each, 0, each->elements);
      limit_step(*each, 0, each->elements);
    }
  }

 private:
  void deliver(exchange domain::* which) {
    for (const auto& each : parts_) ((*each).*which).collect();
    for (const auto& each : parts_) {
      exchange& here = (*each).*which;
      for (const exchange::message& in : here.messages) {
        const exchange& there = (*parts_[static_cast<std::size_t>(in.rank)]).*which;
        const auto out = std::ranges::find(there.messages, each->at.rank(), &exchange::message::rank);
        ASSERT_EQ(out->count, in.count);
        std::copy_n(there.sent.begin() + out->first, in.count, here.received.begin() + in.first);
      }
      here.distribute();
    }
  }

  std::vector<std::unique_ptr<domain>> parts_;
};

TEST(lulesh, of_many_parts_has_the_bits_of_the_cube_that_they_are) {
  for (const auto& [edge, along_edge] : {std::pair{5, 2}, std::pair{2, 3}}) {
    parts_of_cube parts(edge, along_edge);
    const domain& first = *parts.all().front();
    while (first.clock.time < stop_time && first.clock.steps < 300) parts.step();
    const domain& cube = ended(edge * along_edge);
    for (const auto& part : parts.all()) {
      EXPECT_EQ(part->clock.steps, cube.clock.steps);
      EXPECT_EQ(part->clock.step, cube.clock.step);
      const auto& [x, y, z] = part->at.place;
      for (index k = 0; k < edge; ++k)
        for (index j = 0; j < edge; ++j)
          for (index i = 0; i < edge; ++i)
            ASSERT_EQ(
                part->energy[static_cast<std::size_t>(part->element(i, j, k))],
                cube.energy[static_cast<std::size_t>(cube.element(x * edge + i, y * edge + j, z * edge + k))])
                << along_edge << " domains an edge, rank " << part->at.rank();
    }
  }
}

TEST(lulesh, says_the_published_time_steps_and_energy) {
  const finding found = result_of("-app lulesh -size 5");
  EXPECT_EQ(found.own["iterations"], 72);
  EXPECT_NEAR(found.own["origin_energy"].get<double>(), 7853.665, 1e-3);
}

TEST(lulesh, has_the_same_bits_in_every_order_of_its_tasks) {
  const auto each = maker_of("-app lulesh -size 5")({});
  in_order calls;
  const finding expected = result_of(*each, calls);
  for (const std::int64_t parts : {1, 2, 5})
    for (unsigned seed = 0; seed < orders; ++seed) {
      in_any_order tasks(parts, seed);
      const finding found = result_of(*each, tasks);
      EXPECT_EQ(found.wrong, "");
      EXPECT_EQ(found.residual, expected.residual) << parts << " parts, seed " << seed;
      EXPECT_EQ(found.own, expected.own) << parts << " parts, seed " << seed;
    }
}

TEST(lulesh, has_the_same_bits_over_ranks_in_every_order_of_their_tasks_and_messages) {
  const description::maker make = maker_of("-app lulesh -size 4");
  const finding expected = result_of("-app lulesh -size 4");
  for (const std::int64_t parts : {1, 3})
    for (unsigned seed = 0; seed < orders; ++seed) {
      const finding found = found_over_threads(8, make, parts, seed);
      EXPECT_EQ(found.wrong, "");
      EXPECT_EQ(found.residual, expected.residual) << parts << " parts, seed " << seed;
      EXPECT_EQ(found.own, expected.own) << parts << " parts, seed " << seed;
    }
}

TEST(lulesh, refuses_ranks_that_can_not_share_its_cube_equally_and_says_how_to_start_others) {
  try {
    static_cast<void>(maker_of("-app lulesh -size 10")({0, 2}));
    ADD_FAILURE();
  } catch (const bench::usage_error& error) {
    for (const char* const part : {"-size 10", "2 ranks", "--ranks 8", "--workers 1"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << ": " << error.what();
  }
  EXPECT_THROW(static_cast<void>(maker_of("-app lulesh -size 5")({0, 8})), bench::usage_error);
}

}  // namespace
}  // namespace teff::apps::lulesh
