// The answers of programs of all kinds, shown with a kind whose runs are numbers.
#include "teff/bench/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "teff/bench/drive.hpp"
#include "teff/bench/failure.hpp"

namespace {

using namespace teff::bench;

class numbers final : public benchmark {
 public:
  [[nodiscard]] std::string_view name() const override { return "numbers"; }
  [[nodiscard]] std::string help() const override { return "A flag is a number, -7 say.\n"; }
  [[nodiscard]] std::vector<benchmark_case> cases() const override {
    return {{.name = "one", .title = "the first", .flags = "-1", .group = "small"},
            {.name = "many",
             .title = "a lot",
             .flags = "-99",
             .by_default = false,
             .group = "large",
             .own = {{"big", true}}}};
  }
  [[nodiscard]] json further_identity() const override { return {{"base", 10}}; }
  void check(const flags& of_run, bool in_batch) const override {
    if (of_run.size() != 1 || of_run[0].find_first_not_of("-0123456789") != std::string::npos)
      throw usage_error("give one number");
    if (in_batch && of_run[0] == "-0") throw usage_error("-0 belongs on the command line");
  }
};

/// Doubles its number; a run of 13 fails, 14 can't be made ready, and 15 it does not have.
class doubling final : public runner {
 public:
  explicit doubling(int workers) : who_{"doubling", "plain", "1", std::min(workers, most_workers)} {}
  [[nodiscard]] identity describe() const override { return who_; }
  [[nodiscard]] ranks& processes() override { return this_one_; }
  void prepare(const flags& of_run) override {
    number_ = -std::stoi(of_run[0]);
    if (number_ == 14) throw std::bad_alloc();
  }
  [[nodiscard]] answer run() override {
    const bool fails = number_ == 13;
    answer got{.said = {.who = who_,
                        .measured = measurement{.started_at = time_now(), .validation = {{"passed", !fails}}},
                        .error = fails ? "13 can't be doubled" : ""}};
    got.said.own["doubled"] = 2 * number_;
    if (number_ == 0) got.text = "nothing";
    if (number_ == 15) got.said = {.who = who_, .error = "it has no 15", .lacks = true};
    return got;
  }

 private:
  identity who_;
  static constexpr int most_workers = 8;

  int number_ = 0;
  ranks this_one_;
};

struct said {
  int code;
  std::string out;
  std::string err;
};

said program(flags words, const std::string& input = "") {
  std::istringstream from(input);
  auto* const before = std::cin.rdbuf(from.rdbuf());
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (std::string& each : words) argv.push_back(each.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = drive(
      static_cast<int>(argv.size()), argv.data(), numbers(),
      [](int workers) { return std::make_unique<doubling>(workers); }, 2);
  std::fflush(stdout);
  std::cin.rdbuf(before);
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

std::vector<json> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<json> all;
  for (std::string line; std::getline(stream, line);) all.push_back(json::parse(line));
  return all;
}

std::vector<std::string> keys_of(const json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(program, answers_a_run_with_a_record_whose_head_comes_first) {
  const said got = program({"-21", "--workers", "3"});
  EXPECT_EQ(got.code, 0);
  EXPECT_EQ(got.err, "");
  const json run = lines_of(got.out).at(0);
  EXPECT_EQ(keys_of(run), (std::vector<std::string>{"schema", "benchmark", "system", "variant", "version",
                                                    "workers", "ranks", "started_at", "elapsed_seconds",
                                                    "noise", "validation", "doubled"}));
  EXPECT_EQ(run["schema"], "teff-record-2");
  EXPECT_EQ(run["benchmark"], "numbers");
  EXPECT_EQ(run["workers"], 3);
  EXPECT_EQ(run["doubled"], 42);
}

TEST(program, ends_with_1_where_a_run_failed_and_says_why_in_one_line) {
  const said got = program({"-13"});
  EXPECT_EQ(got.code, 1);
  EXPECT_EQ(got.err, "error: 13 can't be doubled\n");
  EXPECT_EQ(lines_of(got.out).at(0)["error"], "13 can't be doubled");
  EXPECT_EQ(program({"-14"}).err, "error: there is not enough memory\n");
}

TEST(program, ends_with_2_where_flags_are_wrong_and_says_why_in_one_line) {
  for (const flags& words :
       {flags{"-x"}, flags{}, flags{"--workers", "none"}, flags{"--batch", "-1"}, flags{"--cases", "-1"}}) {
    const said got = program(words);
    EXPECT_EQ(got.code, 2);
    EXPECT_EQ(got.out, "");
    EXPECT_TRUE(got.err.starts_with("error: ") && got.err.find('\n') + 1 == got.err.size()) << got.err;
  }
}

TEST(program, runs_nothing_with_fewer_workers_than_were_asked_for_and_names_both_numbers) {
  for (const flags& words : {flags{"-21", "--workers", "9"}, flags{"--batch", "--workers", "9"}}) {
    const said got = program(words, "-21\n");
    EXPECT_EQ(got.code, 1);
    EXPECT_EQ(got.out, "");
    EXPECT_EQ(
        got.err,
        "error: doubling/plain has 8 of 9 workers: its environment or this machine may give it fewer; remove "
        "the limit, or say --workers 8\n");
  }
  EXPECT_EQ(program({"-21", "--workers", "8"}).code, 0);
  EXPECT_EQ(program({"--identity", "--workers", "9"}).code, 0);
}

TEST(session, makes_a_failed_run_of_one_whose_workers_turn_out_to_be_fewer) {
  const numbers kind;
  session asked(kind, read_request(flags{"--batch", "--workers", "2"}), {"lazy", "plain", "1", 0}, true,
                [](std::string& line) { return line = "-1", true; });
  testing::internal::CaptureStdout();
  for (const int workers : {1, 2}) {
    ASSERT_TRUE(asked.next());
    asked.answer({.said = {.who = {"lazy", "plain", "1", workers}}});
  }
  const std::vector<json> records = lines_of(testing::internal::GetCapturedStdout());
  EXPECT_EQ(records.at(0)["error"].get<std::string>().find("lazy/plain has 1 of 2 workers"), 0U);
  EXPECT_FALSE(records.at(0).contains("workers"));
  EXPECT_FALSE(records.at(1).contains("error"));
  EXPECT_EQ(records.at(1)["workers"], 2);
}

TEST(program, answers_each_line_of_a_batch_that_is_not_blank_whatever_is_wrong_with_it) {
  const said got = program({"--batch"}, "-1\n\n  \n-x\n-13\n-14\n-0\n--identity\n-2 --workers 2\n-2\n");
  EXPECT_EQ(got.code, 0);
  EXPECT_EQ(got.err, "");
  const std::vector<json> records = lines_of(got.out);
  ASSERT_EQ(records.size(), 8U);
  for (const json& each : records) EXPECT_EQ(each["system"], "doubling");
  EXPECT_EQ(records[0]["doubled"], 2);
  EXPECT_EQ(records[1]["error"], "give one number");
  EXPECT_EQ(records[2]["error"], "13 can't be doubled");
  EXPECT_EQ(records[3]["error"], "there is not enough memory");
  EXPECT_EQ(records[4]["error"], "-0 belongs on the command line");
  for (const int i : {5, 6})
    EXPECT_NE(records[i]["error"].get<std::string>().find("command line"), std::string::npos);
  EXPECT_EQ(records[7]["doubled"], 4);
}

TEST(program, answers_a_line_that_is_wrong_with_a_head_without_times) {
  const json wrong = lines_of(program({"--batch"}, "-x\n").out).at(0);
  EXPECT_EQ(keys_of(wrong), (std::vector<std::string>{"schema", "benchmark", "system", "variant", "version",
                                                      "workers", "ranks", "error"}));
}

TEST(program, tells_what_its_system_does_not_have_from_what_went_wrong) {
  const std::vector<json> records = lines_of(program({"--batch"}, "-15\n-13\n").out);
  EXPECT_EQ(records.at(0)["error"], "it has no 15");
  EXPECT_EQ(records.at(0)["lacks"], true);
  EXPECT_FALSE(records.at(1).contains("lacks"));
}

TEST(program, prints_text_in_the_place_of_the_record_where_a_run_gives_some) {
  EXPECT_EQ(program({"-0"}).out, "nothing\n");
}

TEST(program, says_who_it_is_and_what_it_runs_and_how_to_ask) {
  const json who = lines_of(program({"--identity"}).out).at(0);
  EXPECT_EQ(who.dump(),
            R"({"system":"doubling","variant":"plain","version":"1","workers":2,"ranks":1,"base":10})");
  const std::vector<json> cases = lines_of(program({"--cases"}).out);
  EXPECT_EQ(
      cases.at(0).dump(),
      R"({"name":"one","title":"the first","flags":"-1","default":true,"group":"small","workers":"any"})");
  EXPECT_EQ(cases.at(1)["big"], true);
  const std::string help = program({"--help"}).out;
  EXPECT_TRUE(help.starts_with("A flag is a number")) << help;
  EXPECT_NE(help.find("--workers"), std::string::npos) << help;
}

}  // namespace
