#include "teff/bench/request.hpp"

#include <gtest/gtest.h>

#include "teff/bench/failure.hpp"

namespace {

using namespace teff::bench;

request read(const std::string& line) {
  return read_request(words_of(line));
}

TEST(request, leaves_the_flags_of_a_run_to_the_kind) {
  const request asked = read("-pattern tree --workers 3 -tree T3");
  EXPECT_EQ(asked.what, request::mode::run);
  EXPECT_EQ(asked.workers, 3);
  EXPECT_EQ(asked.run, (flags{"-pattern", "tree", "-tree", "T3"}));
}

TEST(request, takes_its_flags_with_one_dash_and_with_two) {
  EXPECT_EQ(read("-batch").what, request::mode::batch);
  EXPECT_EQ(read("--cases").what, request::mode::cases);
  EXPECT_EQ(read("-identity").what, request::mode::identity);
  EXPECT_EQ(read("-h").what, request::mode::help);
  EXPECT_EQ(read("--workers=12").workers, 12);
  EXPECT_EQ(read("-workers 12").workers, 12);
}

TEST(request, for_help_comes_before_everything_else) {
  EXPECT_EQ(read("--help --batch").what, request::mode::help);
  EXPECT_EQ(read("--batch --identity").what, request::mode::identity);
}

TEST(request, for_workers_that_can_not_be_is_refused_in_one_line_that_quotes_them) {
  for (const std::string line : {"--workers 0", "--workers 4097", "--workers -2", "--workers two",
                                 "--workers 2x", "--workers=", "--workers"}) {
    try {
      static_cast<void>(read(line));
      ADD_FAILURE() << line;
    } catch (const usage_error& wrong) {
      const std::string reason = wrong.what();
      EXPECT_NE(reason.find("--workers"), std::string::npos) << reason;
      EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
    }
  }
}

TEST(request, has_a_line_of_help_for_each_flag) {
  const std::string text = request_help();
  for (const char* flag : {"--workers", "--batch", "--cases", "--identity", "--help"})
    EXPECT_NE(text.find(flag), std::string::npos) << flag;
}

}  // namespace
