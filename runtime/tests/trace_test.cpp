#include "scheduler/scheduler.hpp"
#include "workers.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace teff::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A new folder, which is removed after the test.
class trace_file : public testing::Test {
 protected:
  trace_file() {
    std::string pattern = (fs::temp_directory_path() / "teff_trace_XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
  }
  ~trace_file() override { fs::remove_all(folder); }

  // Reads the only file in the folder. A test that expects several reads them itself.
  [[nodiscard]] json read() const {
    const fs::directory_iterator files(folder);
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
    return json::parse(std::ifstream(fs::directory_iterator(folder)->path()));
  }

  fs::path folder;
};

struct span {
  std::int64_t began, ended;  // ns
  std::string name, category;
};

std::int64_t nanoseconds(const json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

// The spans of each track, by the name of the track, in the order of the file.
std::map<std::string, std::vector<span>> tracks_of(const json& trace) {
  std::map<int, std::string> names;
  std::map<std::string, std::vector<span>> tracks;
  for (const auto& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name") names[event["tid"]] = event["args"]["name"];
  }
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const auto began = nanoseconds(event["ts"]);
    tracks[names.at(event["tid"])].push_back(
        {began, began + nanoseconds(event["dur"]), event["name"], event["cat"]});
  }
  return tracks;
}

std::size_t count(const json& trace, const char* kind, const char* category) {
  const auto& all = trace["traceEvents"];
  return static_cast<std::size_t>(std::ranges::count_if(
      all, [&](const json& event) { return event["ph"] == kind && event["cat"] == category; }));
}

// Checks the order that Perfetto requires: by beginning, and each span within the open one.
void expect_to_nest(const std::vector<span>& track) {
  std::vector<span> open;
  std::int64_t last = 0;
  for (const auto& each : track) {
    ASSERT_LE(last, each.began);
    last = each.began;
    while (!open.empty() && open.back().ended <= each.began && open.back().ended < each.ended)
      open.pop_back();
    if (!open.empty()) {
      ASSERT_LE(each.ended, open.back().ended) << each.name << " in " << open.back().name;
    }
    open.push_back(each);
  }
}

// Spawns some thousands of tasks in every way, and returns how many have to be counted.
std::size_t spawn_of_every_kind() {
  std::atomic<std::size_t> ran{0};
  EXPECT_EQ(fib(15), 610);  // 986 joins
  {
    scope outer;
    for (int i = 0; i < 700; ++i) {  // more than the deque holds
      outer.spawn([&outer, &ran, i] {
        ++ran;
        if (i % 50 != 0) return;
        scope inner;
        const std::array<char, 100> large{};  // no closure for a slot
        for (int j = 0; j < 10; ++j)
          inner.spawn([&ran, large] { ran += 1 + static_cast<std::size_t>(large[0]); });
        outer.spawn([&ran] { ++ran; });
      });
    }
  }
  const auto one = [&ran] { ++ran; };
  join(one, one, one);
  --ran;  // the first function is no task
  auto got = fork(one);
  got.get();
  {
    const auto left_to_its_end = fork(one);
  }
  return ran + 986;
}

TEST_F(trace_file, has_a_named_track_a_worker_and_spans_that_nest) {
  for (const unsigned workers : worker_counts) {
    SCOPED_TRACE(testing::Message() << workers << " workers");
    const auto path = folder / "trace.json";
    {
      runtime rt{{.workers = workers, .trace = path.string()}};
      for (int i = 0; i < (under_sanitizer ? 1 : 3); ++i) rt.run([] { spawn_of_every_kind(); });
    }
    const auto tracks = tracks_of(read());
    EXPECT_LE(tracks.size(), workers);
    for (const auto& [name, spans] : tracks) {
      SCOPED_TRACE(name);
      EXPECT_EQ(name.substr(0, 7), "worker ");
      EXPECT_LT(std::stoul(name.substr(7)), workers);
      expect_to_nest(spans);
    }
    fs::remove_all(folder);
    fs::create_directory(folder);
  }
}

TEST_F(trace_file, has_every_task_and_steal_that_the_counters_have) {
  constexpr unsigned jobs = under_sanitizer ? 2 : 5;
  for (const unsigned workers : worker_counts) {
    SCOPED_TRACE(testing::Message() << workers << " workers");
    const auto path = folder / "trace.json";
    counters counted;
    std::size_t tasks = 0;
    {
      runtime rt{{.workers = workers, .trace = path.string()}};
      for (unsigned i = 0; i < jobs; ++i) tasks += rt.run([] { return spawn_of_every_kind(); });
      rt.shutdown();
      counted = rt.counters();
    }
    EXPECT_EQ(counted.tasks, tasks);
    EXPECT_EQ(counted.spawned, tasks);
    EXPECT_EQ(counted.jobs, jobs);
    const auto trace = read();
    EXPECT_EQ(count(trace, "X", "task"), tasks);
    EXPECT_EQ(count(trace, "X", "run"), jobs);
    EXPECT_EQ(count(trace, "i", "steal"), counted.steals);
    EXPECT_EQ(count(trace, "s", "steal"), counted.steals);
    EXPECT_EQ(count(trace, "f", "steal"), counted.steals);
    EXPECT_EQ(count(trace, "X", "parked"), counted.parks);
    EXPECT_LE(count(trace, "i", "wake"), counted.wakes);
    fs::remove_all(folder);
    fs::create_directory(folder);
  }
}

TEST_F(trace_file, calls_tasks_by_their_names_or_by_where_they_stand) {
  {
    runtime rt{{.workers = 1, .trace = (folder / "trace.json").string()}};
    rt.run(named<"the \"run\"">([] {
      join([] {}, named<"second">([] {}));
      scope s;
      s.spawn(named<"spawned">([] {}));
      const std::array<char, 100> large{};
      s.spawn(named<"large">([large] { EXPECT_EQ(large[0], 0); }));
      s.spawn([] {});
      parallel_for(0, 10, named<"loop">([](int) {}));
    }));
  }
  std::map<std::string, std::string> categories;
  const auto tracks = tracks_of(read());
  for (const auto& each : tracks.at("worker 0")) categories[each.name] = each.category;
  for (const char* const name : {"second", "spawned", "large"}) EXPECT_EQ(categories[name], "task") << name;
  EXPECT_EQ(categories["the \"run\""], "run");
  EXPECT_EQ(categories["loop"], "loop");
  EXPECT_TRUE(std::ranges::any_of(categories, [](const auto& each) {
    return each.second == "task" && each.first.find("lambda") != std::string::npos;
  }));
}

TEST_F(trace_file, does_not_keep_a_scope_from_throwing_what_the_move_of_a_task_throws) {
  struct unmovable {
    unmovable() = default;
    unmovable(const unmovable&) = default;
    unmovable(unmovable&&) { throw std::out_of_range("move"); }
    void operator()() const {}
  };
  runtime rt{{.workers = 1, .trace = (folder / "trace.json").string()}};
  rt.run([] {
    const unmovable copied;
    scope s;
    for (int i = 0; i < detail::scope_window; ++i) s.spawn([] {});
    s.spawn(copied);  // there is no room: it is run at once
    EXPECT_THROW(s.wait(), std::out_of_range);
  });
}

// Each link after the one before, on the workers in turn.
void describe_chain(task_graph<int>& chain, int length) {
  chain.indegree([](int) { return 1; })
      .place([](int link) { return static_cast<unsigned>(link) % 2; }, placement::must)
      .body(named<"link">([&chain, length](int link) {
        if (link + 1 < length) chain.fulfill(link + 1);
      }));
}

TEST_F(trace_file, has_the_tasks_of_a_graph_under_the_name_of_their_body) {
  constexpr int length = 100;
  counters counted;
  {
    runtime rt{{.workers = 2, .trace = (folder / "trace.json").string()}};
    task_graph<int> chain{rt};
    describe_chain(chain, length);
    chain.fulfill(0);
    chain.wait();
    rt.shutdown();
    counted = rt.counters();
  }
  EXPECT_EQ(counted.tasks, length);
  EXPECT_EQ(counted.spawned, length);
  for (const auto& [name, track] : tracks_of(read())) {
    if (name.starts_with("worker")) {
      EXPECT_EQ(std::ranges::count(track, "link", &span::name), length / 2) << name;
    }
  }
}

TEST_F(trace_file, calls_each_task_of_a_flow_by_the_name_that_its_closure_carries) {
  constexpr std::array<const char*, 2> names{"even", "odd"};
  {
    runtime rt{{.workers = 2, .trace = (folder / "trace.json").string()}};
    flow tasks(rt);
    std::array<int, 2> sums{};
    for (std::size_t i = 0; i < 10; ++i)
      tasks.task(inout(sums[i % 2]), named(names[i % 2], [&sums, i] { ++sums[i % 2]; }));
    tasks.task_for(0, 8, inout(sums), named("all", [](int) {}));
    tasks.wait();
  }
  std::map<std::string, int> counted;
  for (const auto& [track, spans] : tracks_of(read()))
    for (const auto& each : spans)
      if (each.category == "task") ++counted[each.name];
  EXPECT_EQ(counted["even"], 5);
  EXPECT_EQ(counted["odd"], 5);
  EXPECT_GE(counted["all"], 1);
  EXPECT_EQ(counted.size(), 3);
}

TEST_F(trace_file, has_the_stages_of_a_pipeline_under_their_names) {
  counters counted;
  {
    runtime rt{{.workers = 2, .trace = (folder / "trace.json").string()}};
    rt.run([] {
      parallel_pipeline(
          4,
          serial(named<"reads">([i = 0]() mutable { return i < 100 ? std::optional(i++) : std::nullopt; })),
          parallel(named<"packs">([](int i) { return fib(10) + i; })), serial(named<"writes">([](long) {})));
    });
    rt.shutdown();
    counted = rt.counters();
  }
  EXPECT_EQ(counted.tasks, counted.spawned);
  std::map<std::string, int> runs;
  const auto tracks = tracks_of(read());
  for (const auto& [name, spans] : tracks) {
    expect_to_nest(spans);
    for (const auto& each : spans) runs[each.category + " " + each.name] += 1;
  }
  EXPECT_EQ(runs["loop reads"], 1);
  EXPECT_GE(runs["task reads"], 101);  // and walks
  EXPECT_EQ(runs["task packs"], 100);
  EXPECT_EQ(runs["task writes"], 100);
}

TEST_F(trace_file, has_the_tasks_of_a_replay_under_the_names_of_their_bodies) {
  constexpr int length = 100;
  constexpr int times = 3;
  counters counted;
  {
    runtime rt{{.workers = 2, .trace = (folder / "trace.json").string()}};
    task_graph<int> chain{rt};
    describe_chain(chain, length);
    auto recorded = record(chain, [&] { chain.fulfill(0); });
    recorded.replay(times);
    recorded.replay(times, named<"again">([](int, std::uint64_t) {}));
    const auto thrower = named<"thrown">([](int link, std::uint64_t) {
      if (link == 1) throw std::runtime_error("expected");
    });
    EXPECT_THROW(recorded.replay(times, thrower), std::runtime_error);
    rt.shutdown();
    counted = rt.counters();
  }
  constexpr int tasks = length * (1 + 2 * times) + 2;
  EXPECT_EQ(counted.tasks, tasks);
  EXPECT_EQ(counted.spawned, tasks);
  const auto trace = read();
  EXPECT_EQ(count(trace, "X", "task"), tasks);
  const auto tracks = tracks_of(trace);
  std::map<std::string, std::ptrdiff_t> runs;  // a worker may run the tasks of the other one in its place
  for (const char* const worker : {"worker 0", "worker 1"}) {
    SCOPED_TRACE(worker);
    const auto& track = tracks.at(worker);
    for (const char* const name : {"link", "again", "thrown"})
      runs[name] += std::ranges::count(track, name, &span::name);
    EXPECT_EQ(std::ranges::count(track, "replay", &span::name), 3);
    expect_to_nest(track);
  }
  EXPECT_EQ(runs["link"], length * (1 + times));
  EXPECT_EQ(runs["again"], length * times);
  EXPECT_EQ(runs["thrown"], 2);
}

TEST_F(trace_file, that_is_full_keeps_the_last_events_and_says_how_many_are_lost) {
  constexpr std::size_t kept = 100;
  {
    runtime rt{{.workers = 1, .trace = (folder / "trace.json").string(), .trace_events = kept}};
    rt.run([] { fib(15); });
    rt.run(named<"last">([] {}));
  }
  const auto trace = read();
  const auto spans = tracks_of(trace).at("worker 0");
  EXPECT_LE(spans.size(), kept);
  EXPECT_GT(spans.size(), kept / 2);
  const int lost = trace["otherData"]["lost_events"];
  EXPECT_GT(lost, 986 - static_cast<int>(kept));
  const auto of_worker = std::ranges::find(trace["traceEvents"], "lost_events",
                                           [](const auto& each) { return each.value("name", ""); });
  ASSERT_NE(of_worker, trace["traceEvents"].end());
  EXPECT_EQ((*of_worker)["args"]["lost_events"].get<int>(), lost);
  EXPECT_TRUE(std::ranges::any_of(spans, [](const span& each) { return each.name == "last"; }));
  expect_to_nest(spans);
}

TEST_F(trace_file, is_left_with_what_was_when_tasks_threw) {
  {
    runtime rt{{.workers = 2, .trace = (folder / "trace.json").string()}};
    for (int i = 0; i < 50; ++i) {
      const auto thrower = [](int) { throw std::runtime_error("expected"); };
      EXPECT_THROW(rt.run([&] { join([&] { thrower(1); }, [] { fib(10); }); }), std::runtime_error);
      EXPECT_THROW(rt.run([&] { join([] { fib(10); }, [&] { thrower(1); }); }), std::runtime_error);
      EXPECT_THROW(rt.run([&] {
        scope s;
        for (int j = 0; j < 20; ++j) s.spawn([thrower, j] { thrower(j); });
        s.wait();
      }),
                   std::runtime_error);
      EXPECT_THROW(rt.run([&] { parallel_for(0, 50, thrower); }), std::runtime_error);
    }
    rt.shutdown();
    EXPECT_LE(rt.counters().tasks, rt.counters().spawned);
  }
  const auto trace = read();
  for (const auto& [name, spans] : tracks_of(trace)) expect_to_nest(spans);
}

TEST_F(trace_file, has_a_name_of_its_own_for_every_runtime_and_process) {
  ::setenv("TEFF_TRACE", (folder / "trace%p-%p.json").c_str(), 1);
  {
    const runtime one{{.workers = 1}};
    const runtime two{{.workers = 1}};
  }
  ::unsetenv("TEFF_TRACE");
  std::size_t files = 0;
  for (const auto& file : fs::directory_iterator(folder)) {
    ++files;
    const auto name = file.path().filename().string();
    const auto process = std::to_string(::getpid());
    EXPECT_EQ(name.rfind("trace" + process + "-" + process + ".", 0), 0U) << name;
    EXPECT_EQ(file.path().extension(), ".json");
    EXPECT_TRUE(json::parse(std::ifstream(file.path())).contains("traceEvents"));
  }
  EXPECT_EQ(files, 2U);
}

TEST_F(trace_file, that_can_not_be_written_is_a_named_error) {
  const auto path = (folder / "missing" / "trace.json").string();
  try {
    const runtime rt{{.workers = 2, .trace = path}};
    FAIL();
  } catch (const invalid_option& wrong) {
    EXPECT_EQ(std::string(wrong.what())
                  .find("teff::runtime_options::trace=" + path + ": the trace can't be written"),
              0U)
        << wrong.what();
  }
}

TEST_F(trace_file, has_a_line_of_the_capacity_of_each_worker_that_published_one) {
  {
    runtime rt{{.workers = 2, .trace = (folder / "trace.json").string()}};
    for (const double capacity : {0.25, 0.25, 1.0})
      on_own_thread(rt, 1, [=] { detail::worker::current()->publish_capacity(capacity); });
    EXPECT_EQ(rt.counters(1).capacity, 1);
  }
  const auto trace = read();
  std::vector<double> line;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "C" && event["name"] == "capacity of worker 1")
      line.push_back(event["args"]["capacity"].get<double>());
  }
  EXPECT_EQ(line, (std::vector{0.25, 1.0})) << "a point for each change";
}

TEST_F(trace_file, that_could_not_be_written_takes_no_name_from_the_next) {
  const auto trace_to = [&](const char* file) {
    const runtime rt{{.workers = 1, .trace = (folder / file).string()}};
  };
  trace_to("first.json");
  EXPECT_THROW(trace_to("missing/second.json"), invalid_option);
  trace_to("second.json");
  std::vector<unsigned> numbers;
  for (const auto& file : fs::directory_iterator(folder)) {
    const auto stem = file.path().stem().string();  // "first", or "first.NUMBER"
    const auto dot = stem.rfind('.');
    numbers.push_back(dot == std::string::npos ? 1 : static_cast<unsigned>(std::stoul(stem.substr(dot + 1))));
  }
  std::ranges::sort(numbers);
  ASSERT_EQ(numbers.size(), 2U);
  EXPECT_EQ(numbers[1], numbers[0] + 1);
}

TEST(counters, without_a_trace_leave_tasks_uncounted_and_sum_up_over_workers) {
  on_runtimes([](runtime& rt) {
    for (int i = 0; i < 20; ++i) rt.run([] { fib(18); });
    // The caller may have run all of it before a worker began to look for work.
    const auto unused = [&rt] { return rt.counters().searching + rt.counters().parked; };
    while (unused() == std::chrono::nanoseconds(0)) std::this_thread::yield();
    rt.shutdown();  // the counters change no more
    const auto all = rt.counters();
    counters sum;
    for (unsigned i = 0; i < rt.workers(); ++i) sum += rt.counters(i);
    EXPECT_EQ(sum.jobs, 20U);
    EXPECT_EQ(sum.jobs, all.jobs);
    EXPECT_EQ(sum.steals, all.steals);
    EXPECT_EQ(sum.failed_steals, all.failed_steals);
    EXPECT_EQ(sum.exposures, all.exposures);
    EXPECT_EQ(sum.parks, all.parks);
    EXPECT_EQ(sum.wakes, all.wakes);
    EXPECT_GT(all.searching + all.parked, std::chrono::nanoseconds(0));
    EXPECT_EQ(all.tasks, 0U);
    EXPECT_EQ(all.spawned, 0U);
    if (rt.workers() == 1) {
      EXPECT_EQ(all.steals + all.failed_steals + all.exposures, 0U);
    }
    EXPECT_THROW(static_cast<void>(rt.counters(rt.workers())), misuse);
  });
}

TEST(counters, of_a_worker_that_sleeps_have_it_parked_until_now) {
  runtime rt{{.workers = 1}};
  while (rt.counters().parks == 0) std::this_thread::yield();
  const auto before = rt.counters().parked;
  while (rt.counters().parked <= before) std::this_thread::yield();  // ends if the counter grows
  EXPECT_EQ(rt.counters().wakes, 0U);
}

}  // namespace
}  // namespace teff::test
