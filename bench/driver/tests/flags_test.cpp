#include "teff/bench/flags.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "teff/bench/failure.hpp"

namespace teff::bench {
namespace {

std::string refusal(const std::string& word) {
  flag_parser parser("");
  int value = 0;
  parser.add("--width", value, "");
  parser.add("--steps,--timesteps", value, "");
  parser.add_switch("-v,--verbose", value, "");
  const flags words{word, "4"};
  try {
    static_cast<void>(parser.rewritten(words));
  } catch (const usage_error& why) {
    return why.what();
  }
  return "";
}

TEST(flags, that_are_unknown_lead_to_the_one_that_was_meant) {
  for (const auto& [word, meant] :
       {std::pair{"-widht", "-width"}, std::pair{"--widht=4", "-width"}, std::pair{"-stepss", "-steps"},
        std::pair{"-timestep", "-timesteps"}, std::pair{"-verbos", "-verbose"}}) {
    EXPECT_EQ(refusal(word),
              "there is no flag '" + std::string(word) + "' (did you mean " + meant + "?); see --help");
  }
}

TEST(flags, that_are_like_no_other_lead_to_the_help) {
  for (const std::string word : {"-bogus", "-x", "--quiet"})
    EXPECT_EQ(refusal(word), "there is no flag '" + word + "'; see --help");
}

TEST(flags, that_are_given_twice_are_refused_by_their_name) {
  flag_parser parser("");
  int width = 0;
  int verbosity = 0;
  parser.add("--width", width, "");
  parser.add_switch("-v,--verbose", verbosity, "");
  parser.read({"--verbose", "--verbose", "--width=4"});
  EXPECT_EQ(verbosity, 2);
  try {
    parser.read({"--width=4", "--width=5"});
    ADD_FAILURE();
  } catch (const usage_error& why) {
    EXPECT_STREQ(why.what(), "-width: it is given more than once; give it once");
  }
}

TEST(flags, values_lead_to_the_one_that_was_meant) {
  const flags patterns{"trivial", "stencil_1d", "fft"};
  EXPECT_EQ(did_you_mean("", "stencil", patterns), " (did you mean stencil_1d?)");
  EXPECT_EQ(did_you_mean("", "foo", patterns), "");
}

}  // namespace
}  // namespace teff::bench
