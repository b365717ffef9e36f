// A pipeline: blocks of text are read in order, compressed in any order, and written in order. At most
// `tokens` of them are under way, however long the text is.
#include <teff/teff.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <random>
#include <string>

namespace {

constexpr int blocks = 2'000;
constexpr std::size_t tokens = 16;
constexpr std::size_t block_size = 4'096;

// Text with runs in it, a block at a time.
class source {
 public:
  std::optional<std::string> next() {
    if (blocks_++ == blocks) return std::nullopt;
    std::string text;
    while (text.size() < block_size) text.append(1 + random_() % 9, static_cast<char>('a' + random_() % 26));
    return text;
  }

 private:
  std::mt19937 random_{1};
  int blocks_ = 0;
};

// "aaab" is "3a1b".
std::string compressed(const std::string& text) {
  std::string shorter;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find_first_not_of(text[at], at), text.size());
    shorter += std::to_string(end - at) + text[at];
    at = end;
  }
  return shorter;
}

}  // namespace

int main() {
  source text;
  std::string file;
  teff::runtime rt;
  rt.run([&] {
    teff::parallel_pipeline(tokens, teff::serial([&] { return text.next(); }), teff::parallel(compressed),
                            teff::serial([&](const std::string& block) { file += block; }));
  });

  source again;
  std::string expected;
  while (const auto block = again.next()) expected += compressed(*block);
  std::printf("%d blocks became %zu bytes: %s\n", blocks, file.size(),
              file == expected ? "as expected" : "not what was expected");
  return file == expected ? 0 : 1;
}
