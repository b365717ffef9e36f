#include "teff/bench/flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>

#include "teff/bench/failure.hpp"

namespace teff::bench {
namespace {

[[nodiscard]] bool is_flag(const std::string& word) {
  return word.size() >= 2 && word[0] == '-' &&
         (word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])));
}

}  // namespace

flags words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

flags rewritten(const CLI::App& app, std::span<const std::string> given) {
  flags words;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& word = given[i];
    if (!is_flag(word))
      throw usage_error(fmt::format("'{}' is not a flag; flags begin with a dash, see --help", word));
    const std::string body = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    const CLI::Option* const option = app.get_option_no_throw("--" + body.substr(0, body.find('=')));
    if (option == nullptr) throw usage_error(fmt::format("there is no flag '{}'; see --help", word));
    if (option->get_items_expected_max() == 0 || body.find('=') != std::string::npos) {
      words.push_back("--" + body);
    } else {
      if (i + 1 == given.size()) throw usage_error(fmt::format("flag '{}' needs a value; see --help", word));
      words.push_back("--" + body + "=" + given[++i]);
    }
  }
  return words;
}

void read_flags(CLI::App& app, flags rewritten) {
  std::ranges::reverse(rewritten);  // the library takes them last first
  try {
    app.parse(std::move(rewritten));
  } catch (const CLI::ParseError& failure) {
    std::string reason = failure.what();
    // A flag is quoted as it is mostly written, with one dash: "-steps: ...".
    if (reason.starts_with("--") && reason[reason.find_first_of(": ")] == ':') reason.erase(0, 1);
    std::ranges::replace(reason, '\n', ' ');
    throw usage_error(reason);
  }
}

}  // namespace teff::bench
