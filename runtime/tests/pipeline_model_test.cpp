// Pipelines on the interleavings of two or three workers. No token is lost, and none overtakes another at a
// stage in order. A serial stage runs on one token at a time. No token is under way beyond the bound.
#include <teff/detail/pipeline/running_pipeline.hpp>

#include <gtest/gtest.h>

#include "interleavings.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

using checked::checker;

// The faults that tests put into the code.
enum class fault {
  none,
  leaves_without_release,
  parks_without_release,
  makes_ready_without_release,
  quits_without_release,
  takes_turns_without_order,
  last_walk_does_not_look,
  makes_token_without_room,
};

// The clock's course: all tokens take long, or only the first ones do.
enum class tokens_take { long_time, no_time_later };

struct options {
  int tokens = 3;
  std::uint64_t most = 2;
  unsigned offers = 1;  // how often another worker asks
  int preemptions = 3;
  unsigned stages_between_looks = 1000;
  unsigned looks_before_end = 1;
  tokens_take time = tokens_take::long_time;
};

// One pipeline. Each thread is a worker.
struct world {
  static inline world* current = nullptr;
  static inline fault seeded = fault::none;
  static world& now() { return *current; }

  explicit world(const options& given) : how(given) { current = this; }

  const options how;
  unsigned asked = 0;
  std::int64_t time = 0;
  int readings = 0;
  // The walks on offer, in the place of the deque. `offered` and `ended` carry happens-before.
  std::vector<std::function<void()>> offers;
  checked::atomic<int> offered{0};
  checked::atomic<int> ended{0};
  checked::atomic<int> over{0};
  std::map<const void*, checked::plain> places;  // where values have been
  int live = 0;
  std::vector<std::vector<int>> seen = std::vector<std::vector<int>>(4);
  std::vector<checked::plain> stage_states = std::vector<checked::plain>(4);
  checked::atomic<int> inside{0};

  // Runs the walk that was offered last.
  void accept() {
    auto walk = std::move(offers.back());
    offers.pop_back();
    walk();
    ended.fetch_add(1);
  }
  void run_stage(int stage, int token) {
    stage_states[static_cast<std::size_t>(stage)].write(token);
    seen[static_cast<std::size_t>(stage)].push_back(token);
    static_cast<void>(inside.load(std::memory_order_relaxed));  // others may run meanwhile
    stage_states[static_cast<std::size_t>(stage)].write(token);
  }
};

// A token's value, which no two workers may touch at the same time.
struct value {
  explicit value(int n) : number(n) { touch(); }
  value(value&& from) noexcept : number(from.number) {
    from.touch();
    touch();
  }
  value& operator=(value&&) = delete;
  ~value() { touch(); }
  void touch() const { world::now().places[this].write(number); }
  int number;
};

struct checked_worker {
  // Carries out the fault that is seeded.
  template <class T>
  struct atomic : checked::atomic<T> {
    using base = checked::atomic<T>;
    using base::base;
    static std::memory_order unless(fault careless, std::memory_order order, std::memory_order instead) {
      return world::seeded == careless ? instead : order;
    }
    T exchange(T word, std::memory_order order) {
      const auto careless = word == 1 ? fault::leaves_without_release : fault::parks_without_release;
      return base::exchange(word, unless(careless, order, std::memory_order_acquire));
    }
    T fetch_or(T bits, std::memory_order order) {
      return base::fetch_or(bits,
                            unless(fault::makes_ready_without_release, order, std::memory_order_relaxed));
    }
    T fetch_sub(T count, std::memory_order order) {
      const T before = base::fetch_sub(count, order);
      if (sizeof(T) == sizeof(unsigned) && order == std::memory_order_acq_rel &&
          world::seeded == fault::last_walk_does_not_look)
        return before + 1;
      return before;
    }
    T fetch_add(T count, std::memory_order order) {
      const T before =
          base::fetch_add(count, unless(fault::takes_turns_without_order, order, std::memory_order_relaxed));
      if (sizeof(T) == sizeof(std::uint64_t) && world::seeded == fault::makes_token_without_room &&
          before + 1 == static_cast<T>(world::now().how.most))
        return before - 1;
      return before;
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order order, std::memory_order failure) {
      return base::compare_exchange_weak(
          expected, desired, unless(fault::quits_without_release, order, std::memory_order_relaxed), failure);
    }
  };

  template <class T>
  class plain {
   public:
    plain(T value) : value_(value) {}
    plain& operator=(T value) {
      accessed_.write(0);
      value_ = value;
      return *this;
    }
    T operator++() {
      accessed_.write(0);
      return ++value_;
    }
    operator T() const {
      static_cast<void>(accessed_.read());
      return value_;
    }

   private:
    mutable checked::plain accessed_;
    T value_;
  };

  struct walks {
    template <class Walk>
    void spawn(Walk walk) {
      auto& all = world::now();
      all.offered.fetch_add(1);  // before others see it, as a push is
      all.offers.emplace_back(std::move(walk));
    }
    void wait() {
      auto& all = world::now();
      while (!all.offers.empty()) all.accept();
      checker::now().wait_until([&] { return all.ended.peek() == all.offered.peek(); });
      static_cast<void>(all.ended.load());
      all.over.store(1);
    }
  };

  struct clock {
    static std::int64_t now() {
      auto& all = world::now();
      if (all.how.time == tokens_take::long_time || ++all.readings <= 3) all.time += 1'000'000'000;
      return all.time;
    }
    static std::int64_t in(std::int64_t nanoseconds) { return nanoseconds; }
  };
  static inline unsigned stages_between_looks = 1000;
  static inline unsigned looks_before_end = 1;
  static inline int tokens_between_looks = 2;
  static void relax() {}
  static void look_outside() {}
  static bool is_alone() { return false; }

  static bool asked() {
    auto& all = world::now();
    return all.offered.peek() < static_cast<int>(all.how.offers);
  }
};

auto source() {
  return detail::pipeline_stage<detail::stage_mode::serial, std::function<std::optional<value>()>>{
      []() -> std::optional<value> {
        auto& all = world::now();
        const int number = static_cast<int>(all.seen[0].size());
        all.stage_states[0].write(number);
        static_cast<void>(all.inside.load(std::memory_order_relaxed));
        if (number == all.how.tokens) return std::nullopt;
        all.seen[0].push_back(number);
        if (++all.live > static_cast<int>(all.how.most)) checker::fail("too many tokens are under way");
        return value(number);
      }};
}

template <detail::stage_mode Mode>
auto middle(int stage) {
  const auto run = [stage](value&& each) {
    if (Mode != detail::stage_mode::parallel) {
      world::now().run_stage(stage, each.number);
    } else {
      static_cast<void>(world::now().inside.load(std::memory_order_relaxed));
      world::now().seen[static_cast<std::size_t>(stage)].push_back(each.number);
    }
    return value(each.number);
  };
  return detail::pipeline_stage<Mode, decltype(run)>{run};
}

template <detail::stage_mode Mode>
auto sink(int stage) {
  const auto run = [stage](value&& each) {
    if (Mode != detail::stage_mode::parallel) world::now().run_stage(stage, each.number);
    if (Mode == detail::stage_mode::parallel)
      world::now().seen[static_cast<std::size_t>(stage)].push_back(each.number);
    --world::now().live;
  };
  return detail::pipeline_stage<Mode, decltype(run)>{run};
}

constexpr auto in_order = detail::stage_mode::serial;
constexpr auto out_of_order = detail::stage_mode::serial_out_of_order;
constexpr auto in_parallel = detail::stage_mode::parallel;

// Worker 0 calls the pipeline, and `helpers` other workers take the walks that it offers.
template <class... Stages>
checker::outcome check(const options& how, int helpers, Stages... stages) {
  checked_worker::stages_between_looks = how.stages_between_looks;
  checked_worker::looks_before_end = how.looks_before_end;
  const auto outcome = checker::check(
      [&]() -> checker::program {
        auto all = std::make_shared<world>(how);
        using pipeline = detail::running_pipeline<checked_worker, Stages...>;
        // A run with a fault leaks it, because its threads are still within.
        auto* const running = new pipeline(how.most, stages...);
        checker::program program;
        program.emplace_back([all, running] { running->run(); });
        for (int i = 0; i < helpers; ++i) {
          program.emplace_back([all] {
            for (;;) {
              checker::now().wait_until([&] { return !all->offers.empty() || all->over.peek() != 0; });
              if (all->over.load() != 0) return;
              static_cast<void>(all->offered.load());
              if (!all->offers.empty()) all->accept();
            }
          });
        }
        program.emplace_back([all, running] {
          delete running;
          const auto expect_all = [&](std::size_t stage, bool ordered) {
            auto tokens = all->seen[stage];
            if (!ordered) std::ranges::sort(tokens);
            for (int i = 0; i < all->how.tokens; ++i) {
              if (tokens.size() != static_cast<std::size_t>(all->how.tokens) ||
                  tokens[static_cast<std::size_t>(i)] != i)
                checker::fail("tokens are lost, or not in order");
            }
          };
          std::size_t stage = 0;
          (expect_all(stage++, Stages::mode == in_order), ...);
          if (all->live != 0) checker::fail("a token is still under way");
        });
        return program;
      },
      how.preemptions, 4'000'000);
  world::seeded = fault::none;
  return outcome;
}

TEST(pipeline_model, two_workers_carry_tokens_through_a_serial_stage_in_order) {
  expect_no_fault(check({}, 1, source(), sink<in_order>(1)));
  expect_no_fault(check({.tokens = 4, .most = 3, .preemptions = 2}, 1, source(), sink<in_order>(1)));
}

TEST(pipeline_model, two_workers_carry_tokens_through_a_parallel_stage_and_a_serial_one) {
  expect_no_fault(check({}, 1, source(), middle<in_parallel>(1), sink<in_order>(2)));
}

TEST(pipeline_model, two_workers_carry_tokens_through_two_serial_stages) {
  expect_no_fault(check({.preemptions = 2}, 1, source(), middle<in_order>(1), sink<in_order>(2)));
}

TEST(pipeline_model, tokens_leave_in_any_order_and_slots_are_used_again) {
  expect_no_fault(
      check({.tokens = 5, .preemptions = 2}, 1, source(), middle<in_order>(1), sink<in_parallel>(2)));
}

TEST(pipeline_model, two_workers_carry_tokens_through_a_stage_out_of_order) {
  expect_no_fault(
      check({.tokens = 4, .preemptions = 2}, 1, source(), middle<in_parallel>(1), sink<out_of_order>(2)));
}

TEST(pipeline_model, three_workers_carry_tokens) {
  expect_no_fault(check({.most = 3, .offers = 2, .preemptions = 2}, 2, source(), middle<in_parallel>(1),
                        sink<in_order>(2)));
}

TEST(pipeline_model, a_worker_without_helpers_goes_on_alone) {
  expect_no_fault(check({.tokens = 4, .offers = 2, .preemptions = 2, .stages_between_looks = 1}, 1, source(),
                        sink<in_order>(1)));
}

TEST(pipeline_model, a_worker_quits_when_tokens_are_short) {
  expect_no_fault(
      check({.tokens = 4, .preemptions = 2, .stages_between_looks = 1, .time = tokens_take::no_time_later}, 1,
            source(), sink<in_order>(1)));
  expect_no_fault(check({.tokens = 4,
                         .most = 3,
                         .preemptions = 2,
                         .stages_between_looks = 2,
                         .time = tokens_take::no_time_later},
                        1, source(), middle<in_order>(1), sink<in_order>(2)));
}

// Faults that the checker must find.

TEST(pipeline_model, finds_a_stage_that_is_left_without_release) {
  world::seeded = fault::leaves_without_release;
  EXPECT_EQ(check({}, 1, source(), sink<in_order>(1)).fault, "data race");
}

TEST(pipeline_model, finds_a_token_that_is_parked_without_release) {
  world::seeded = fault::parks_without_release;
  EXPECT_EQ(check({}, 1, source(), sink<in_order>(1)).fault, "data race");
}

TEST(pipeline_model, finds_a_stage_that_is_made_ready_without_release) {
  world::seeded = fault::makes_ready_without_release;
  EXPECT_EQ(check({}, 1, source(), sink<in_order>(1)).fault, "data race");
}

TEST(pipeline_model, finds_a_walk_that_quits_without_release) {
  world::seeded = fault::quits_without_release;
  EXPECT_EQ(
      check({.tokens = 4, .preemptions = 2, .stages_between_looks = 1, .time = tokens_take::no_time_later}, 1,
            source(), sink<in_order>(1))
          .fault,
      "data race");
}

TEST(pipeline_model, finds_turns_and_tokens_that_are_counted_without_order) {
  world::seeded = fault::takes_turns_without_order;
  EXPECT_EQ(
      check({.tokens = 5, .preemptions = 2}, 1, source(), middle<in_order>(1), sink<in_parallel>(2)).fault,
      "data race");
}

TEST(pipeline_model, finds_a_last_walk_that_does_not_look_for_a_stage_that_another_left) {
  world::seeded = fault::last_walk_does_not_look;
  EXPECT_EQ(check({.tokens = 4,
                   .preemptions = 3,
                   .stages_between_looks = 2,
                   .looks_before_end = 0,
                   .time = tokens_take::no_time_later},
                  1, source(), sink<in_order>(1))
                .fault,
            "tokens are lost, or not in order");
}

TEST(pipeline_model, finds_a_token_that_is_made_where_there_is_no_room) {
  // The source is made ready once more when a token leaves, and two workers call it.
  world::seeded = fault::makes_token_without_room;
  EXPECT_EQ(check({}, 1, source(), sink<in_order>(1)).fault, "data race");
}

}  // namespace
}  // namespace teff::test
