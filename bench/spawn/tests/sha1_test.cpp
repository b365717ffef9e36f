#include "teff/spawn/sha1.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace teff::spawn;

// "abc", as FIPS 180 gives it.
constexpr block abc{0x61626380, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24};
constexpr digest abc_digest{0xa9993e36, 0x4706816a, 0xba3e2571, 0x7850c26c, 0x9cd0d89d};

TEST(sha1, of_abc_is_the_digest_of_the_standard) {
  EXPECT_EQ(sha1_portable(abc), abc_digest);
  EXPECT_EQ(sha1(abc), abc_digest);
}

TEST(sha1, both_implementations_agree_on_random_messages) {
  if (!has_sha_ni()) GTEST_SKIP() << "this processor has no SHA instructions";
  constexpr unsigned seed = 7;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 1000; ++i) {
    block message;
    for (std::uint32_t& word : message) word = static_cast<std::uint32_t>(random());
    ASSERT_EQ(sha1_ni(message), sha1_portable(message));
  }
}

TEST(sha1, uses_the_processors_instructions_where_they_are) {
  EXPECT_EQ(sha1_implementation(), has_sha_ni() ? "sha-ni" : "portable");
}

}  // namespace
