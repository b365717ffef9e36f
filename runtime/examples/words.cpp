// Words in a text that come twice: sort, scan, find, and a loop with a buffer for each of its pieces.
#include <teff/teff.hpp>

#include <cctype>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

int main() {
  std::vector<std::string> words;
  for (int i = 0; i < 20'000; ++i) words.push_back("Word" + std::to_string(i * 7919LL % 30'011));
  words[12'345] = words[678];

  teff::runtime rt;
  return rt.run([&] {
    // A piece of the loop uses its buffer again and again; no other piece does.
    teff::parallel_for(words, teff::with_state([] { return std::string(); },
                                               [](std::string& buffer, std::string& word) {
                                                 buffer.clear();
                                                 for (const unsigned char each : word)
                                                   buffer += static_cast<char>(std::tolower(each));
                                                 word = buffer;
                                               }));
    teff::parallel_sort(words);

    const auto twice = teff::parallel_find_if(std::size_t{1}, words.size(),
                                              [&](std::size_t i) { return words[i] == words[i - 1]; });
    std::printf("twice: %s\n", twice < words.size() ? words[twice].c_str() : "none");

    // Where each word would begin in one long text.
    std::vector<std::size_t> lengths(words.size());
    std::vector<std::size_t> begins(words.size());
    teff::parallel_transform(words, lengths.begin(), [](const std::string& word) { return word.size(); });
    teff::parallel_exclusive_scan(lengths, begins.begin(), std::size_t{0});
    std::string text(begins.back() + lengths.back(), ' ');
    teff::parallel_for(std::size_t{0}, words.size(),
                       [&](std::size_t i) { words[i].copy(text.data() + begins[i], lengths[i]); });
    const bool all = teff::parallel_all_of(std::size_t{0}, words.size(), [&](std::size_t i) {
      return std::string_view(text).substr(begins[i], lengths[i]) == words[i];
    });
    return twice < words.size() && all ? 0 : 1;
  });
}
