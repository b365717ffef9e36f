// Random graphs of requests that wait for each other's futures. If all waits can end, no wait is refused. If
// some can't, at least one wait is refused, and all requests end.
#include <teff/teff.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

// How a node makes its future from the futures of its two requests.
enum class form { then, all, all_of_range, any, any_of_range };
constexpr std::size_t forms = 5;
constexpr bool one_suffices(form how) {
  return how == form::any || how == form::any_of_range;
}

// Where a request waits for the futures of other nodes.
enum class way { here, blocking, run, submit, in_join, in_scope, blocking_in_join };
constexpr std::size_t ways = 7;

// A node has two requests. Each waits for some nodes.
struct plan_of_node {
  form how;
  way where[2];
  std::vector<std::size_t> needs[2];
};

// Whether all requests of such a graph can end: they are in the least set that the forms' rules give.
bool all_can_end(const std::vector<plan_of_node>& plan) {
  std::vector<bool> ends(plan.size());
  const auto request_ends = [&](const std::vector<std::size_t>& needs) {
    return std::ranges::all_of(needs, [&](std::size_t each) { return ends[each]; });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      if (ends[i]) continue;
      const bool one = request_ends(plan[i].needs[0]);
      const bool other = request_ends(plan[i].needs[1]);
      if (one_suffices(plan[i].how) ? one || other : one && other) ends[i] = changed = true;
    }
  }
  // A request that no future needs has to end as well.
  return std::ranges::all_of(plan, [&](const plan_of_node& each) {
    return request_ends(each.needs[0]) && request_ends(each.needs[1]);
  });
}

template <class F>
void in_scope(F f) {
  scope tasks;
  for (int i = 0; i < 3; ++i) tasks.spawn(f);
  tasks.wait();
}

future<void> joined(form how, future<void> one, future<void> other) {
  std::vector<future<void>> both;
  switch (how) {
    case form::then:
      return when_all(std::move(one), other.then([] { return 1; }).then([](int) {})).then([](auto) {});
    case form::all:
      return when_all(std::move(one), std::move(other)).then([](auto) {});
    case form::any:
      return when_any(std::move(one), other.then([] {})).then([](auto) {});
    default:
      both.push_back(std::move(one));
      both.push_back(std::move(other));
      return how == form::all_of_range ? when_all(both) : when_any(both).then([](auto) {});
  }
}

// Runs the graph. Returns how many waits were refused.
int refused_in(const std::vector<plan_of_node>& plan, unsigned workers) {
  runtime rt(runtime_options{.workers = workers});
  runtime other(runtime_options{.workers = workers});
  std::vector<future<void>> made(plan.size());
  std::atomic<bool> all_made{false};
  std::atomic<int> refused{0};
  std::atomic<std::size_t> ended{0};
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto request = [&, i](int which) {
      return rt.submit([&, i, which] {
        while (!all_made) std::this_thread::yield();
        const auto wait = [&] {
          for (const auto each : plan[i].needs[which]) made[each].wait();
        };
        try {
          switch (plan[i].where[which]) {
            case way::here:
              wait();
              break;
            case way::blocking:
              blocking(wait);
              break;
            case way::run:
              other.run(wait);
              break;
            case way::submit:
              other.submit(wait).get();
              break;
            case way::in_join:
              join([] {}, wait);
              break;
            case way::in_scope:
              in_scope(wait);
              break;
            case way::blocking_in_join:
              join([] {}, [&] { blocking([&] { other.run(wait); }); });
              break;
          }
        } catch (const future_waits_for_itself&) {
          ++refused;
        }
        ++ended;
      });
    };
    auto one = request(0);
    made[i] = joined(plan[i].how, std::move(one), request(1));
  }
  all_made = true;
  for (auto& each : made) each.wait();
  rt.shutdown();
  other.shutdown();  // a request there may still wait, though the wait for it was refused
  EXPECT_EQ(ended, 2 * plan.size());
  return refused;
}

class random_waits : public testing::TestWithParam<unsigned> {
 protected:
  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }
  // Each request waits only for nodes before its own node.
  std::vector<plan_of_node> older_ones(std::size_t count) {
    std::vector<plan_of_node> plan(count);
    for (std::size_t i = 0; i < count; ++i) {
      plan[i].how = static_cast<form>(pick(forms));
      for (int which = 0; which < 2; ++which) {
        plan[i].where[which] = static_cast<way>(pick(ways));
        for (std::size_t n = i == 0 ? 0 : pick(3); n != 0; --n) plan[i].needs[which].push_back(pick(i));
      }
    }
    return plan;
  }

  const unsigned seed_ = std::random_device{}();
  std::mt19937 random_{seed_};
  const testing::ScopedTrace says_seed_{__FILE__, __LINE__, testing::Message() << "seed " << seed_};
};

constexpr int rounds = 40;
constexpr std::size_t nodes = 12;

TEST_P(random_waits, for_older_requests_are_never_refused) {
  for (int round = 0; round < rounds; ++round) EXPECT_EQ(refused_in(older_ones(nodes), GetParam()), 0);
}

// An older request waits for a newer one. The rules of when_any decide whether that closes a circle.
TEST_P(random_waits, of_which_one_is_for_a_newer_request_are_refused_if_they_close_a_circle) {
  int circles = 0;
  for (int round = 0; round < rounds; ++round) {
    auto plan = older_ones(nodes);
    const auto from = pick(nodes);
    plan[from].needs[pick(2)].push_back(from + pick(nodes - from));
    const auto refused = refused_in(plan, GetParam());
    const bool ends = all_can_end(plan);
    EXPECT_EQ(refused == 0, ends) << refused << " refused in round " << round;
    if (!ends) ++circles;
  }
  EXPECT_GT(circles, 0);
}

INSTANTIATE_TEST_SUITE_P(workers, random_waits, testing::Values(1U, 2U, 4U));

}  // namespace
}  // namespace teff::test
