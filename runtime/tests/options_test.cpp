// Options and TEFF_* variables that can't be honoured. The error is one line, which names the value, the rule
// and the way out.
#include "workers.hpp"

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

namespace teff::test {
namespace {

// The text of the error of a runtime with these options. Empty if there is none.
std::string refusal(const runtime_options& asked) {
  try {
    const runtime rt{asked};
  } catch (const invalid_option& error) {
    return error.what();
  }
  return {};
}

// The text of the error of a runtime while this variable is set.
std::string refusal(const char* variable, const char* value) {
  ::setenv(variable, value, 1);
  const std::string said = refusal({});
  ::unsetenv(variable);
  return said;
}

// A batch system limits a job so.
TEST(options, that_need_more_address_space_than_there_is_are_refused_by_what_they_need) {
  if (under_address_sanitizer || under_thread_sanitizer) GTEST_SKIP() << "a sanitizer reserves terabytes";
  const auto within_a_gibibyte = [] {
    const rlimit most{rlim_t{1} << 30, rlim_t{1} << 30};
    ::setrlimit(RLIMIT_AS, &most);
    try {
      const runtime rt{{.workers = 16}};
    } catch (const std::system_error& error) {
      std::fputs(error.what(), stderr);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(
      within_a_gibibyte(), testing::ExitedWithCode(0),
      "16 workers, which reserve [0-9]+ MiB of address space each; smaller stacks \\(TEFF_STACK_SIZE, "
      "268435456 bytes now\\), fewer workers \\(TEFF_WORKERS\\) or a higher limit");
}

TEST(options, that_can_not_be_honoured_are_refused_by_their_name_and_value) {
  EXPECT_EQ(refusal({.workers = 1025}),
            "teff::runtime_options::workers=1025: there can be 1 to 1024 workers; leave it out to have one "
            "for each "
            "core it may use");
  EXPECT_EQ(refusal({.workers = 1, .stack_size = 10}),
            "teff::runtime_options::stack_size=10: a worker's stack has 262144 to 1006632960 bytes; leave it "
            "out to "
            "have 256 MiB, which take memory only as they are used");
  EXPECT_EQ(
      refusal({.workers = 1, .spin = std::chrono::microseconds::max()}),
      "teff::runtime_options::spin=9223372036854775807: a worker looks for work for 0 to 31536000000000 us "
      "before it parks, a year at most; leave it out to have 50 us, or more where that pays");
  EXPECT_EQ(
      refusal({.workers = 1, .trace = "never.json", .trace_events = std::size_t{1} << 60}),
      "teff::runtime_options::trace_events=1152921504606846976: a trace keeps 1 to 268435456 events of each "
      "worker; leave it out to have the last 262144");
  EXPECT_EQ(refusal({.workers = 1, .spare_threads = 100'000}),
            "teff::runtime_options::spare_threads=100000: there can be 1 to 16384 spare threads; leave it "
            "out to have "
            "256");
  EXPECT_EQ(refusal({.workers = 1, .spin = std::chrono::hours(24) * 365}), "");
}

TEST(options, of_the_environment_are_refused_by_the_name_of_the_variable) {
  for (const char* const wrong : {"0", "many", "-1", "2x", "1025", "99999999999999999999"}) {
    EXPECT_EQ(refusal("TEFF_WORKERS", wrong),
              "TEFF_WORKERS=" + std::string(wrong) +
                  ": there can be 1 to 1024 workers; leave it out to have one for each core it may use");
  }
  EXPECT_EQ(refusal("TEFF_BIND", "2"),
            "TEFF_BIND=2: it is 0 to 1 (0: workers keep to no core); leave it out to have each keep to a "
            "core as far as it helps");
  for (const char* const variable : {"TEFF_WORKERS", "TEFF_BIND", "TEFF_STACK_SIZE", "TEFF_SPIN_US",
                                     "TEFF_SPARE_THREADS", "TEFF_TRACE_EVENTS"}) {
    for (const char* const wrong : {"much", "18446744073709551615"}) {
      EXPECT_EQ(refusal(variable, wrong).find(std::string(variable) + "=" + wrong + ": "), 0U) << variable;
    }
    EXPECT_EQ(refusal(variable, ""), "") << variable;
  }
  EXPECT_EQ(refusal("TEFF_STACK_SIZE", "4096").find("TEFF_STACK_SIZE=4096: a worker's stack has 262144 to"),
            0U);
  EXPECT_EQ(refusal("TEFF_TRACE_EVENTS", "0").find("TEFF_TRACE_EVENTS=0: a trace keeps 1 to"), 0U);
  // A later trace of the process has a number in its name.
  const std::string of_trace = refusal("TEFF_TRACE", "/proc/there/is/none.json");
  EXPECT_EQ(
      of_trace.find("TEFF_TRACE=/proc/there/is/none.json: the trace can't be written to /proc/there/is/"), 0U)
      << of_trace;
  EXPECT_TRUE(of_trace.ends_with("name a file in a folder that is there and may be written to")) << of_trace;
}

}  // namespace
}  // namespace teff::test
