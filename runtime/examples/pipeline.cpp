// A pipeline: blocks of text are read in order, compressed in any order, and written in order. At most
// `window` of them are under way, however long the text is.
#include <teff/teff.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <random>
#include <string>

namespace {

constexpr int blocks = 2'000;
constexpr int window = 16;
constexpr std::size_t block_size = 4'096;

// Text with runs in it, for as long as one asks.
class source {
 public:
  std::string next() {
    std::string text;
    while (text.size() < block_size) text.append(1 + random_() % 9, static_cast<char>('a' + random_() % 26));
    return text;
  }

 private:
  std::mt19937 random_{1};
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
  enum stage { read, compress, write };
  struct key {
    int block;
    int stage;
    bool operator==(const key&) const = default;
  };

  source text;
  std::string file;
  std::array<std::string, window> under_way;

  teff::runtime rt;
  teff::task_graph<key> pipeline{rt};
  pipeline
      .indegree([](key k) {
        switch (k.stage) {
          case read:
            return (k.block > 0) + (k.block >= window);  // the one read before; its place is free
          case compress:
            return 1;                  // read
          default:                     // write
            return 1 + (k.block > 0);  // compressed; the one written before
        }
      })
      .body([&](key k) {
        auto& block = under_way[k.block % window];
        const auto then = [&](int number, int stage) {
          if (number < blocks) pipeline.fulfill({number, stage});
        };
        switch (k.stage) {
          case read:
            block = text.next();
            then(k.block, compress);
            then(k.block + 1, read);
            break;
          case compress:
            block = compressed(block);
            then(k.block, write);
            break;
          default:  // write
            file += block;
            then(k.block + 1, write);
            then(k.block + window, read);
        }
      });
  pipeline.fulfill({0, read});
  pipeline.wait();

  source again;
  std::string expected;
  for (int block = 0; block < blocks; ++block) expected += compressed(again.next());
  std::printf("%d blocks became %zu bytes: %s\n", blocks, file.size(),
              file == expected ? "as expected" : "not what was expected");
  return file == expected ? 0 : 1;
}
