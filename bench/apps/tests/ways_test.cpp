#include "teff/apps/ways.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "teff/apps/box.hpp"
#include "teff/apps/huge_vector.hpp"
#include "teff/apps/task_way.hpp"
#include "teff/bench/failure.hpp"
#include "ways_in_tests.hpp"

namespace teff::apps {
namespace {

TEST(cut, has_each_index_in_one_part_and_no_empty_part) {
  for (const std::int64_t count : {1, 2, 7, 24, 100})
    for (const std::int64_t parts : {1, 2, 3, 8, 24, 1000}) {
      const cut all(count, parts);
      EXPECT_EQ(all.parts(), std::min(count, parts));
      std::int64_t next = 0;
      for (std::int64_t i = 0; i < all.parts(); ++i) {
        EXPECT_EQ(all.part(i).begin, next);
        EXPECT_GT(all.part(i).size(), 0);
        for (; next < all.part(i).end; ++next) EXPECT_EQ(all.part_of(next), i) << count << "/" << parts;
      }
      EXPECT_EQ(next, count);
    }
}

TEST(field_access, of_iterations_covers_their_elements_and_those_beside_them) {
  std::vector<double> memory(100);
  const field all{std::span(memory), 16};
  EXPECT_EQ(in(all, {1, 3}).elements, (range{16, 48}));
  EXPECT_EQ(in(all, {0, 2}, 5).elements, (range{0, 37}));
  EXPECT_EQ(out(all, {6, 7}).elements, (range{96, 100})) << "the last iteration has fewer elements";
  EXPECT_EQ(inout(all).elements, (range{0, 100}));
  EXPECT_EQ(in(all, {1, 3}).bytes().data(), reinterpret_cast<std::byte*>(&memory[16]));
  EXPECT_EQ(in(all, {1, 3}).bytes().size(), 32 * sizeof(double));
}

TEST(field_access, shares_an_address_of_a_part_with_another_if_they_share_an_element) {
  std::vector<double> memory(1000);
  const field all{std::span(memory), 7};
  const auto addresses = [&](range elements, std::int64_t parts) {
    std::set<std::byte*> found;
    field_access{access_mode::in, &all, elements}.visit_parts(parts,
                                                              [&](std::byte* each) { found.insert(each); });
    return found;
  };
  for (const std::int64_t parts : {1, 4, 9, 500}) {
    for (std::int64_t begin = 0; begin < 1000; begin += 37) {
      const auto one = addresses({begin, begin + 1}, parts);
      EXPECT_EQ(one.size(), 1U);
      EXPECT_TRUE(addresses({begin / 2, begin + 1}, parts).contains(*one.begin()));
    }
    EXPECT_EQ(static_cast<std::int64_t>(addresses({0, 1000}, parts).size()), cut(143, parts).parts());
  }
}

TEST(field_access, of_one_task_of_a_step_has_one_address_if_it_names_what_the_task_covers) {
  std::vector<double> memory(1000);
  const field all{std::span(memory), 7};
  const cut tasks(143, 10);
  for (std::int64_t i = 0; i < tasks.parts(); ++i) {
    int visits = 0;
    in(all, tasks.part(i)).visit_parts(10, [&](std::byte*) { ++visits; });
    EXPECT_EQ(visits, 1);
  }
}

TEST(access_list, of_elements_to_read_has_their_iterations_and_neighbours_as_one_access) {
  std::vector<double> memory(100);
  const field all{std::span(memory), 16};
  access_list found;
  read_each(all, std::vector{99, 17, 0, 40, 17, 1}, found);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].elements, (range{0, 48}));
  EXPECT_EQ(found[1].elements, (range{96, 100}));
  read_each(all, std::vector<int>{}, found);
  EXPECT_EQ(found.size(), 2U);
}

TEST(access_list, that_is_widened_touches_the_same_parts_each_by_one_access) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random);
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<double> memory(static_cast<std::size_t>(1 + below(500)));
    const field all{std::span(memory), 1 + below(20)};
    const cut tasks(all.iterations(), 1 + below(40));
    std::vector<std::int64_t> elements;
    for (std::int64_t i = below(30); i >= 0; --i) elements.push_back(below(all.count));
    access_list widened{out(all, {0, 1})};
    read_each(all, elements, widened);
    widen(widened, tasks.parts());
    EXPECT_EQ(widened.front().elements, out(all, {0, 1}).elements) << "a write";
    for (std::int64_t i = 0; i < tasks.parts(); ++i) {
      const range part = covered(all, tasks.part(i));
      std::int64_t touching = 0;
      for (const field_access& each : std::span(widened).subspan(1)) {
        const bool is_outside = each.elements.end <= part.begin || part.end <= each.elements.begin;
        const bool is_around = each.elements.begin <= part.begin && part.end <= each.elements.end;
        EXPECT_TRUE(is_outside || is_around);
        touching += !is_outside;
      }
      const bool is_read = std::ranges::any_of(
          elements, [&](std::int64_t each) { return part.begin <= each && each < part.end; });
      EXPECT_EQ(touching, is_read ? 1 : 0);
    }
  }
}

/// Runs each task at once, and notes the iterations that it has.
class noting_tasks final : public task_way {
 public:
  using task_way::task_way;
  void wait() override {}

  std::vector<range> made;
  access_list named;  ///< of the last task

 private:
  void make(const step& of, range some, const access_list& accesses) override {
    of.body(some);
    made.push_back(some);
    named = accesses;
  }
};

TEST(task_way, cuts_a_step_into_as_many_tasks_as_it_is_told) {
  std::vector<double> memory(100);
  const field all{std::span(memory), 10};
  noting_tasks by(3);
  for (int i = 0; i < 10; ++i) {
    by.made.clear();
    by.run({.name = "any",
            .count = 10,
            .accesses = [&](range some, access_list& named) { named = {in(all, some, 1)}; },
            .body = [](range) {}});
    EXPECT_EQ(by.made, (std::vector<range>{{0, 3}, {3, 6}, {6, 10}}));
    EXPECT_EQ(by.named.at(0).elements, (range{30, 100})) << "the last part, and the one before it";
  }
}

TEST(way, of_tests_finds_an_access_that_a_step_does_not_name) {
  bool found = false;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<double> memory(8);
    const field all{std::span(memory), 1};
    double sum = 0;
    in_any_order tasks(8, seed);
    tasks.run({.name = "write",
               .count = 8,
               .accesses = [&](range some, access_list& named) { named = {out(all, some)}; },
               .body = [&](range some) { memory[static_cast<std::size_t>(some.begin)] = 1; }});
    tasks.run({.name = "sum",
               .accesses = [](range, access_list& named) { named.clear(); },
               .body = [&](range) { sum = std::accumulate(memory.begin(), memory.end(), 0.0); }});
    tasks.wait();
    found |= sum != 8;
  }
  EXPECT_TRUE(found);
}

TEST(way_kind, is_read_by_the_name_that_it_is_written_with) {
  for (const way_kind each : {way_kind::loops, way_kind::tasks, way_kind::worksharing, way_kind::graph})
    EXPECT_EQ(way_named(name_of(each)), each);
  EXPECT_THROW(static_cast<void>(way_named("graphs")), bench::usage_error);
}

TEST(box, is_three_positive_numbers) {
  EXPECT_EQ(box_of("20x30x10"), (box{20, 30, 10}));
  EXPECT_EQ(fault_of_box("20x30x10"), "");
  for (const auto* wrong : {"", "20", "20x30", "20x30x10x2", "20x30x0", "20x30x-1", "ax2x3", "2x3x4 ",
                            "100000x100000x1", "99999999999x1x1"})
    EXPECT_NE(fault_of_box(wrong), "") << wrong;
}

TEST(huge_vector, begins_at_a_huge_page_if_it_fills_one_and_else_at_a_cache_line) {
  const auto place_in = [](const huge_vector<std::int32_t>& of, std::uintptr_t unit) {
    return reinterpret_cast<std::uintptr_t>(of.data()) % unit;
  };
  EXPECT_EQ(place_in(huge_vector<std::int32_t>(1), 64), 0U);
  EXPECT_EQ(place_in(huge_vector<std::int32_t>((1 << 19) + 1), 1 << 21), 0U);
}

}  // namespace
}  // namespace teff::apps
