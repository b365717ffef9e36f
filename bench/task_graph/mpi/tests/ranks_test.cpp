// The end of a batch on two ranks if one of them fails. A hang is ended by timeout(1), with code 124.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;

struct answer {
  std::vector<std::string> lines;  ///< of both outputs
  int code;
};

/// Ranks share cores here, and Open MPI looks for a network that it may not use. Other MPIs don't look at it.
void prepare_launcher() {
  setenv("OMPI_MCA_btl", "^tcp", 1);
  for (const char* const name : {"OMPI_MCA_orte_execute_quiet", "PRTE_MCA_prte_execute_quiet"})
    setenv(name, "1", 1);
}

answer said_by(const std::string& command) {
  prepare_launcher();
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  const int code = WEXITSTATUS(pclose(pipe));
  std::istringstream stream(text);
  answer got{{}, code};
  for (std::string line; std::getline(stream, line);) got.lines.push_back(line);
  return got;
}

/// The answers to a batch of a line at which the fault happens, and one at which it does not.
answer batch_with(const std::string& fault) {
  return said_by("printf '%s\\n' '-output 32 -scratch 268435456' '-type trivial' | TEFF_FAULT=" + fault +
                 " timeout -k 5 60 " TEFF_START_RANKS " core 2 " TEFF_FAULTY_RANKS " --batch");
}

constexpr auto passed = R"("passed":true)";

TEST(ranks, without_a_fault_answer_every_line) {
  const answer got = batch_with("none");
  EXPECT_THAT(got.lines, ElementsAre(HasSubstr(passed), HasSubstr(passed)));
  EXPECT_EQ(got.code, 0);
}

TEST(ranks, of_which_one_has_no_memory_for_its_workload_say_so_and_go_on) {
  const answer got = batch_with("workload");
  EXPECT_THAT(got.lines,
              ElementsAre(HasSubstr(R"("error":"rank 1: there is not enough memory")"), HasSubstr(passed)));
  EXPECT_EQ(got.code, 0);
}

TEST(ranks, of_which_one_cannot_prepare_a_run_say_so_and_go_on) {
  const answer got = batch_with("prepare");
  EXPECT_THAT(got.lines, ElementsAre(HasSubstr(R"("error":"rank 1: nothing is ready")"), HasSubstr(passed)));
  EXPECT_EQ(got.code, 0);
}

TEST(ranks, of_which_one_does_not_start_say_so_once_and_end) {
  const answer got = batch_with("start");
  EXPECT_EQ(std::ranges::count(got.lines, "error: rank 1: no start"), 1) << testing::PrintToString(got.lines);
  EXPECT_EQ(got.code, 1);
}

TEST(ranks, of_which_one_fails_amid_a_run_end_with_its_name) {
  const answer got = batch_with("execute");
  EXPECT_THAT(got.lines, Contains(ContainsRegex("rank 1 of 2 on .* failed amid a run: no way on")));
  EXPECT_EQ(got.code, 1);
}

TEST(ranks, of_which_one_is_killed_amid_a_run_all_end) {
  const answer got = batch_with("killed");
  EXPECT_THAT(got.lines, Contains("rank 1 is killed"));
  EXPECT_NE(got.code, 0);
  EXPECT_NE(got.code, 124);
}

TEST(ranks, share_the_ceiling_of_several_nodes) {
  const answer got = said_by(
      "printf '%s\\n' '-type trivial -width 6 -kernel compute_bound -iter 64 -steps 10' '-type stencil_1d' | "
      "timeout -k 5 60 " TEFF_START_RANKS " core 2 " TEFF_CEILING " --workers 2 --batch");
  EXPECT_THAT(got.lines, ElementsAre(AllOf(HasSubstr(passed), HasSubstr(R"("workers":2,"ranks":2)"),
                                           HasSubstr(R"("tasks":60)")),
                                     HasSubstr("the ceiling has no dependences")));
  EXPECT_EQ(got.code, 0);
}

TEST(ranks, that_are_not_as_many_as_were_asked_for_say_so) {
  const answer got = said_by("TEFF_RANKS=2 timeout -k 5 60 " TEFF_FAULTY_RANKS " --identity");
  EXPECT_THAT(got.lines, Contains(ContainsRegex("rank 0 of 1 on .* should be one of 2: .* do not fit")));
  EXPECT_EQ(got.code, 1);
}

}  // namespace
