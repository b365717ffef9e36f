#include "teff/bench/flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "teff/bench/failure.hpp"

namespace teff::bench {
namespace {

[[nodiscard]] bool is_flag(const std::string& word) {
  return word.size() >= 2 && word[0] == '-' &&
         (word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])));
}

/// So many letters have to be put in, left out or changed to make one word the other (Levenshtein).
[[nodiscard]] std::size_t distance(std::string_view one, std::string_view other) {
  // From the letters of `one` so far to each beginning of `other`.
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char letter : one) {
    std::size_t before = std::exchange(row[0], row[0] + 1);
    for (std::size_t i = 0; i < other.size(); ++i) {
      const std::size_t changed = before + (letter == other[i] ? 0 : 1);
      before = row[i + 1];
      row[i + 1] = std::min({changed, row[i] + 1, before + 1});
    }
  }
  return row.back();
}

[[nodiscard]] std::string meant_by(const CLI::App& app, const std::string& name) {
  flags known;
  for (const CLI::Option* const each : app.get_options())
    std::ranges::copy(each->get_lnames(), std::back_inserter(known));
  return did_you_mean("-", name, known);
}

}  // namespace

std::string did_you_mean(std::string_view before, std::string_view word, std::span<const std::string> known) {
  std::string_view nearest;
  for (const std::string_view each : known)
    if (distance(word, each) < std::min(distance(word, nearest), (each.size() + 1) / 2)) nearest = each;
  return nearest.empty() ? "" : fmt::format(" (did you mean {}{}?)", before, nearest);
}

flags words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

template <class Number>
flag flag::within(Number least, Number most) {
  of_->check(CLI::Range(least, most));
  return *this;
}
template flag flag::within(int, int);
template flag flag::within(std::int64_t, std::int64_t);
template flag flag::within(std::size_t, std::size_t);
template flag flag::within(double, double);

flag flag::checked_by(const fault_of& fault) {
  of_->check(fault);
  return *this;
}
flag flag::one_of(std::vector<std::string> names) {
  of_->check(CLI::IsMember(std::move(names)));
  return *this;
}
flag flag::or_word(const std::string& word, int meaning) {
  of_->transform(CLI::Transformer(std::map<std::string, int>{{word, meaning}}));
  return *this;
}
flag flag::takes(const std::string& what) {
  of_->option_text(what);
  return *this;
}
flag flag::group(const std::string& name) {
  of_->group(name);
  return *this;
}

flag_parser::flag_parser(const std::string& about) : app_(std::make_unique<CLI::App>(about)) {
  app_->name("");
  app_->set_help_flag();
}
flag_parser::~flag_parser() = default;

template <class Value>
flag flag_parser::add(const std::string& names, Value& into, const std::string& about) {
  return flag(app_->add_option(names, into, about));
}
template flag flag_parser::add(const std::string&, std::string&, const std::string&);
template flag flag_parser::add(const std::string&, int&, const std::string&);
template flag flag_parser::add(const std::string&, std::int64_t&, const std::string&);
template flag flag_parser::add(const std::string&, std::size_t&, const std::string&);
template flag flag_parser::add(const std::string&, double&, const std::string&);
template flag flag_parser::add(const std::string&, std::optional<int>&, const std::string&);
template flag flag_parser::add(const std::string&, std::optional<std::int64_t>&, const std::string&);

flag flag_parser::add_named(const std::string& names, const std::string& about,
                            std::vector<std::string> known,
                            const std::function<void(const std::string&)>& take) {
  return flag(app_->add_option_function<std::string>(names, take, about)
                  ->transform(CLI::IsMember(std::move(known), CLI::ignore_case)));
}
flag flag_parser::add_switch(const std::string& names, bool& into, const std::string& about) {
  return flag(app_->add_flag(names, into, about));
}
flag flag_parser::add_switch(const std::string& names, int& into, const std::string& about) {
  return flag(app_->add_flag(names, into, about));
}
void flag_parser::then(std::function<void()> check) {
  app_->callback(std::move(check));
}
void flag_parser::footer(const std::string& text) {
  app_->footer(text);
}
std::string flag_parser::help() const {
  return app_->help();
}

flags flag_parser::rewritten(std::span<const std::string> given) const {
  flags words;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& word = given[i];
    if (!is_flag(word))
      throw usage_error(fmt::format("'{}' is not a flag; flags begin with a dash, see --help", word));
    const std::string body = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    const std::string name = body.substr(0, body.find('='));
    const CLI::Option* const option = app_->get_option_no_throw("--" + name);
    if (option == nullptr)
      throw usage_error(fmt::format("there is no flag '{}'{}; see --help", word, meant_by(*app_, name)));
    if (option->get_items_expected_max() == 0 || body.find('=') != std::string::npos) {
      words.push_back("--" + body);
    } else {
      if (i + 1 == given.size()) throw usage_error(fmt::format("flag '{}' needs a value; see --help", word));
      words.push_back("--" + body + "=" + given[++i]);
    }
  }
  return words;
}

void flag_parser::read(flags rewritten) {
  std::ranges::reverse(rewritten);  // the library takes them last first
  try {
    app_->parse(std::move(rewritten));
  } catch (const CLI::ParseError& failure) {
    std::string reason = failure.what();
    // Each rewritten flag has the value that it takes: a mismatch is one value too many.
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&failure) != nullptr)
      reason = reason.substr(0, reason.find(':')) + ": it is given more than once; give it once";
    // A flag is quoted as it is mostly written, with one dash: "-steps: ...".
    if (reason.starts_with("--") && reason[reason.find_first_of(": ")] == ':') reason.erase(0, 1);
    std::ranges::replace(reason, '\n', ' ');
    throw usage_error(reason);
  }
}

}  // namespace teff::bench
