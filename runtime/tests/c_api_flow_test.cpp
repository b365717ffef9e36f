// The C interface's data flow (teff.h): the effect and the status of each call. examples/c_flow.c shows that
// it is C99.
#include "c_runtimes.hpp"

#include <teff/teff.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace teff::test {
namespace {

template <class T>
teff_access touch(teff_access_kind kind, const T& object) {
  return {.kind = kind, .first = &object, .bytes = sizeof(T), .rows = 0, .stride = 0};
}

// Makes a task of `body`, of which the flow keeps a copy.
template <class F>
int make(const c_flow& flow, std::initializer_list<teff_access> touched, F body) {
  static_assert(std::is_trivially_copyable_v<F>);
  return teff_flow_task(
      flow.get(), touched.begin(), touched.size(),
      [](void* context) -> int { return (*static_cast<F*>(context))(); }, &body, sizeof(F));
}

TEST(c_api_flow, runs_dependent_tasks_in_order_each_with_its_own_context) {
  on_c_runtimes([](const c_runtime& runtime) {
    const auto chain = [&] {
      const auto flow = flow_on(runtime);
      std::vector<int> order;
      auto* const all = &order;
      for (int i = 0; i < 1000; ++i) {
        const int status = make(flow, {touch(teff_inout, order)}, [all, i] {
          all->push_back(i);
          return 0;
        });
        if (status != teff_ok) return status;
      }
      const int status = teff_flow_wait(flow.get());
      std::vector<int> expected(1000);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(order, expected);
      return status;
    };
    EXPECT_EQ(chain(), teff_ok);
    EXPECT_EQ(run(runtime, chain), teff_ok);
  });
}

TEST(c_api_flow, passes_the_programs_own_context_on_if_no_copy_is_wanted) {
  const auto runtime = made(2);
  const auto flow = flow_on(runtime);
  int calls = 0;
  const auto count = [](void* context) -> int {
    ++*static_cast<int*>(context);
    return 0;
  };
  const auto touched = touch(teff_inout, calls);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(teff_flow_task(flow.get(), &touched, 1, count, &calls, 0), teff_ok);
  EXPECT_EQ(teff_flow_task(
                flow.get(), nullptr, 0, [](void* context) { return context == nullptr ? 0 : 1; }, nullptr, 0),
            teff_ok);
  EXPECT_EQ(teff_flow_wait(flow.get()), teff_ok);
  EXPECT_EQ(calls, 10);
}

TEST(c_api_flow, commutative_tasks_run_one_at_a_time) {
  on_c_runtimes([](const c_runtime& runtime) {
    const auto flow = flow_on(runtime);
    int shared = 0;
    std::atomic<int> within{0};
    std::atomic<int> most{0};
    for (int i = 0; i < (under_sanitizer ? 100 : 500); ++i) {
      EXPECT_EQ(make(flow, {touch(teff_commutative, shared)},
                     [inside = &within, seen = &most] {
                       if (inside->fetch_add(1) != 0) *seen = 2;
                       std::this_thread::yield();
                       --*inside;
                       return 0;
                     }),
                teff_ok);
    }
    EXPECT_EQ(teff_flow_wait(flow.get()), teff_ok);
    EXPECT_EQ(most, 0);
  });
}

// ---- Random programs ----

constexpr std::size_t width = 12;
using cells = std::array<std::uint64_t, width * width>;

struct block {
  std::size_t row, column, rows, columns;
};

// A task that reads a block, and updates another one. A worksharing task does not read.
struct step {
  teff_access_kind kind;
  block reads;
  block writes;
  bool is_loop;
  std::uint64_t number;

  void run(cells& all, std::int64_t first, std::int64_t last) const {
    std::uint64_t value = number;
    for (std::size_t r = 0; r < reads.rows && !is_loop; ++r)
      for (std::size_t c = 0; c < reads.columns; ++c)
        value += all[(reads.row + r) * width + reads.column + c];
    for (auto r = static_cast<std::size_t>(first); r < static_cast<std::size_t>(last); ++r) {
      for (std::size_t c = 0; c < writes.columns; ++c) {
        auto& cell = all[(writes.row + r) * width + writes.column + c];
        if (kind == teff_out) cell = value + c;
        if (kind == teff_inout) cell = 3 * cell + value;
        if (kind == teff_commutative) cell += value;
        if (kind == teff_concurrent) std::atomic_ref(cell).fetch_add(value);
      }
    }
  }
};

std::vector<step> random_program(std::mt19937_64& random) {
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  const auto some_block = [&] {
    const block at{below(width), below(width), 0, 0};
    return block{at.row, at.column, 1 + below(width - at.row), 1 + below(width - at.column)};
  };
  std::vector<step> program(200);
  for (std::uint64_t number = 0; auto& each : program) {
    const auto kind = static_cast<teff_access_kind>(teff_out + below(4));
    each = {kind, some_block(), some_block(), below(3) == 0, number++};
  }
  return program;
}

TEST(c_api_flow, has_the_result_of_the_sequential_program_for_all_kinds_of_accesses_and_for_rows) {
  const auto seed = fresh_seed();
  SCOPED_TRACE("TEFF_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  on_c_runtimes([&](const c_runtime& runtime) {
    for (int round = 0; round < 5; ++round) {
      const auto program = random_program(random);
      cells expected{};
      cells found{};
      const auto flow = flow_on(runtime);
      for (const auto& each : program) {
        each.run(expected, 0, static_cast<std::int64_t>(each.writes.rows));
        struct call {
          const step* of;
          cells* all;
        } call{&each, &found};
        const auto touched = [&](teff_access_kind kind, const block& at) {
          return teff_access{kind, &found[at.row * width + at.column], at.columns * sizeof(found[0]), at.rows,
                             width * sizeof(found[0])};
        };
        const std::array accesses{touched(each.kind, each.writes), touched(teff_in, each.reads)};
        if (each.is_loop) {
          ASSERT_EQ(teff_flow_task_for(
                        flow.get(), 0, static_cast<std::int64_t>(each.writes.rows), 1, accesses.data(), 1,
                        [](std::int64_t begin, std::int64_t end, void* context) {
                          const auto& mine = *static_cast<struct call*>(context);
                          mine.of->run(*mine.all, begin, end);
                          return 0;
                        },
                        &call, sizeof call),
                    teff_ok);
        } else {
          ASSERT_EQ(make(flow, {accesses[0], accesses[1]},
                         [call] {
                           call.of->run(*call.all, 0, static_cast<std::int64_t>(call.of->writes.rows));
                           return 0;
                         }),
                    teff_ok);
        }
      }
      EXPECT_EQ(teff_flow_wait(flow.get()), teff_ok);
      ASSERT_EQ(found, expected);
    }
  });
}

// ---- Worksharing, waits, inner tasks ----

TEST(c_api_flow, a_worksharing_task_runs_each_iteration_once_between_the_tasks_around_it) {
  constexpr std::int64_t first = -500;
  constexpr std::int64_t last = 20'000;
  on_c_runtimes([](const c_runtime& runtime) {
    std::vector<int> values(last - first);
    auto* const all = &values;
    const teff_access touched{teff_inout, values.data(), values.size() * sizeof(int), 1, 0};
    const auto flow = flow_on(runtime);
    for (const std::size_t chunk : {0U, 1U, 1000U}) {
      EXPECT_EQ(make(flow, {touched},
                     [all] {
                       for (auto& each : *all) each = each == 0 ? 1 : -1;
                       return 0;
                     }),
                teff_ok);
      const auto add = [](std::int64_t begin, std::int64_t end, void* context) {
        for (auto i = begin; i < end; ++i)
          ++(*static_cast<std::vector<int>*>(context))[static_cast<std::size_t>(i - first)];
        return 0;
      };
      EXPECT_EQ(teff_flow_task_for(flow.get(), first, last, chunk, &touched, 1, add, all, 0), teff_ok);
      EXPECT_EQ(teff_flow_task_for(flow.get(), 5, 5, chunk, &touched, 1, add, all, 0), teff_ok);
      EXPECT_EQ(make(flow, {touched},
                     [all] {
                       for (auto& each : *all) each = each == 2 ? 0 : -1;
                       return 0;
                     }),
                teff_ok);
    }
    EXPECT_EQ(teff_flow_wait(flow.get()), teff_ok);
    for (const int each : values) ASSERT_EQ(each, 0);
  });
}

TEST(c_api_flow, wait_for_an_access_returns_when_its_tasks_have_ended) {
  on_c_runtimes([](const c_runtime& runtime) {
    const auto flow = flow_on(runtime);
    std::array<int, 2> value{};
    for (int i = 1; i <= 100; ++i) {
      for (int& each : value) {
        EXPECT_EQ(make(flow, {touch(teff_inout, each)},
                       [at = &each] {
                         ++*at;
                         return 0;
                       }),
                  teff_ok);
      }
      const auto touched = touch(teff_in, value[0]);
      EXPECT_EQ(teff_flow_wait_for(flow.get(), &touched, 1), teff_ok);
      ASSERT_EQ(value[0], i);
    }
    EXPECT_EQ(teff_flow_wait(flow.get()), teff_ok);
    EXPECT_EQ(value[1], 100);
  });
}

TEST(c_api_flow, tasks_made_in_a_task_end_before_it_does) {
  on_c_runtimes([](const c_runtime& runtime) {
    const auto flow = flow_on(runtime);
    const auto* const tasks = &flow;
    std::array<int, 10> x{};
    int sum = 0;
    for (int round = 0; round < 20; ++round) {
      EXPECT_EQ(make(flow, {touch(teff_inout, x)},
                     [tasks, all = &x] {
                       for (auto& each : *all) {
                         const int status = make(*tasks, {touch(teff_inout, each)}, [at = &each] {
                           ++*at;
                           return 0;
                         });
                         if (status != teff_ok) return status;
                       }
                       return 0;
                     }),
                teff_ok);
      EXPECT_EQ(make(flow, {touch(teff_in, x), touch(teff_inout, sum)},
                     [all = &x, into = &sum] {
                       *into += std::accumulate(all->begin(), all->end(), 0);
                       return 0;
                     }),
                teff_ok);
    }
    EXPECT_EQ(teff_flow_wait(flow.get()), teff_ok);
    EXPECT_EQ(sum, 10 * (20 * 21 / 2));
  });
}

// ---- Failures ----

TEST(c_api_flow, returns_what_a_body_returns_and_drops_what_has_not_begun) {
  on_c_runtimes([](const c_runtime& runtime) {
    const auto flow = flow_on(runtime);
    int ran = 0;
    const auto count = [at = &ran] {
      ++*at;
      return 0;
    };
    const auto touched = touch(teff_inout, ran);
    EXPECT_EQ(make(flow, {touched}, [] { return 66; }), teff_ok);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(make(flow, {touched}, count), teff_ok);
    EXPECT_EQ(teff_flow_wait_for(flow.get(), &touched, 1), teff_ok);
    EXPECT_EQ(teff_flow_wait(flow.get()), 66);
    EXPECT_STREQ(teff_last_error(), "a body returned 66");
    EXPECT_EQ(ran, 0);

    const auto fail = [](std::int64_t begin, std::int64_t end, void*) {
      return begin <= 700 && 700 < end ? 70 : 0;
    };
    EXPECT_EQ(teff_flow_task_for(flow.get(), 0, 1000, 10, &touched, 1, fail, nullptr, 0), teff_ok);
    EXPECT_EQ(make(flow, {touched}, count), teff_ok);
    EXPECT_EQ(teff_flow_wait(flow.get()), 70);
    EXPECT_EQ(ran, 0);

    EXPECT_EQ(make(flow, {touched}, []() -> int { throw std::runtime_error("a body of C++"); }), teff_ok);
    EXPECT_EQ(teff_flow_wait(flow.get()), teff_exception);
    EXPECT_STREQ(teff_last_error(), "a body of C++");

    EXPECT_EQ(make(flow, {touched}, count), teff_ok);
    EXPECT_EQ(teff_flow_wait(flow.get()), teff_ok);
    EXPECT_EQ(ran, 1);
  });
}

TEST(c_api_flow, names_each_misuse) {
  const auto last_error_has = [](const char* text) {
    return std::string(teff_last_error()).find(text) != std::string::npos;
  };
  const auto body = [](void*) { return 0; };
  const auto chunk = [](std::int64_t, std::int64_t, void*) { return 0; };
  const auto runtime = made(2);
  teff_flow* none = reinterpret_cast<teff_flow*>(1);
  EXPECT_EQ(teff_flow_make(nullptr, &none), teff_misused);
  EXPECT_EQ(none, nullptr);
  EXPECT_TRUE(last_error_has("teff_flow_make: ")) << teff_last_error();
  EXPECT_EQ(teff_flow_make(runtime.get(), nullptr), teff_misused);
  EXPECT_EQ(teff_flow_task(nullptr, nullptr, 0, body, nullptr, 0), teff_misused);
  EXPECT_EQ(teff_flow_task_for(nullptr, 0, 1, 0, nullptr, 0, chunk, nullptr, 0), teff_misused);
  EXPECT_EQ(teff_flow_wait_for(nullptr, nullptr, 0), teff_misused);
  EXPECT_EQ(teff_flow_wait(nullptr), teff_misused);
  EXPECT_TRUE(last_error_has("teff_flow_wait: ")) << teff_last_error();
  teff_flow_end(nullptr);

  const auto flow = flow_on(runtime);
  EXPECT_EQ(teff_flow_task(flow.get(), nullptr, 0, nullptr, nullptr, 0), teff_misused);
  EXPECT_TRUE(last_error_has("teff_flow_task: the body is NULL")) << teff_last_error();
  EXPECT_EQ(teff_flow_task_for(flow.get(), 0, 1, 0, nullptr, 0, nullptr, nullptr, 0), teff_misused);
  EXPECT_TRUE(last_error_has("teff_flow_task_for: the body is NULL")) << teff_last_error();
  EXPECT_EQ(teff_flow_task(flow.get(), nullptr, 1, body, nullptr, 0), teff_misused);
  EXPECT_TRUE(last_error_has("teff_flow_task: the accesses are NULL")) << teff_last_error();
  EXPECT_EQ(teff_flow_task(flow.get(), nullptr, 0, body, nullptr, 8), teff_misused);
  EXPECT_TRUE(last_error_has("teff_flow_task: the context is NULL")) << teff_last_error();
  const teff_access forgotten{};
  EXPECT_EQ(teff_flow_wait_for(flow.get(), &forgotten, 1), teff_misused);
  EXPECT_TRUE(last_error_has("teff_flow_wait_for: the kind of an access is 0")) << teff_last_error();
  EXPECT_EQ(teff_flow_wait(flow.get()), teff_ok);  // no call has made a task

  int x = 0;
  for (const bool one : {false, true}) {
    const auto wait = [tasks = flow.get(), at = &x, one] {
      const auto touched = touch(teff_in, *at);
      return one ? teff_flow_wait_for(tasks, &touched, 1) : teff_flow_wait(tasks);
    };
    EXPECT_EQ(make(flow, {touch(teff_inout, x)}, wait), teff_ok);
    EXPECT_EQ(teff_flow_wait(flow.get()), teff_ok);  // a body may wait for its inner tasks
  }
  // Within a chunk, the text passes on to the waiting thread.
  const auto wait = [](std::int64_t, std::int64_t, void* of) {
    return teff_flow_wait(static_cast<teff_flow*>(of));
  };
  EXPECT_EQ(teff_flow_task_for(flow.get(), 0, 1, 1, nullptr, 0, wait, flow.get(), 0), teff_ok);
  EXPECT_EQ(teff_flow_wait(flow.get()), teff_misused);
  EXPECT_TRUE(last_error_has("in a chunk of a worksharing task")) << teff_last_error();
}

TEST(c_api_flow, of_a_forked_process_names_the_error) {
  const auto runtime = made(2);
  const auto flow = flow_on(runtime);
  const pid_t process = ::fork();
  if (process == 0) {
    ::alarm(120);
    teff_flow* another = nullptr;
    const auto body = [](void*) -> int { ::_exit(64); };
    int wrong = 0;
    wrong |= teff_flow_make(runtime.get(), &another) != teff_forked_process ? 1 : 0;
    wrong |= teff_flow_task(flow.get(), nullptr, 0, body, nullptr, 0) != teff_ok ? 2 : 0;
    wrong |= teff_flow_wait(flow.get()) != teff_forked_process ? 4 : 0;
    wrong |= teff_flow_wait_for(flow.get(), nullptr, 0) != teff_forked_process ? 8 : 0;
    teff_flow_end(flow.get());
    ::_exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(process, &status, 0), process);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace teff::test
