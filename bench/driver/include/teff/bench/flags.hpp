#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace teff::bench {

/// The flags of a command line, or of a line of a batch, one word each.
using flags = std::vector<std::string>;

/// The words of a line, which blanks separate.
[[nodiscard]] flags words_of(const std::string& line);

/// " (did you mean -width?)", with the dash in `before`: the nearest known word, if less than half of its
/// letters differ; else nothing.
[[nodiscard]] std::string did_you_mean(std::string_view before, std::string_view word,
                                       std::span<const std::string> known);

/// Says what is wrong with a flag's value; says nothing of a right one.
using fault_of = std::function<std::string(const std::string& value)>;

/// A flag of a parser.
class flag {
 public:
  explicit flag(CLI::Option* of) : of_(of) {}
  /// Only numbers from `least` to `most`: int, std::int64_t, std::size_t or double.
  template <class Number>
  flag within(Number least, Number most);
  flag checked_by(const fault_of& fault);
  flag one_of(std::vector<std::string> names);
  /// The word means this number.
  flag or_word(const std::string& word, int meaning);
  /// In the help, the kind of value: "COUNT".
  flag takes(const std::string& what);
  /// In the help, the heading above the flag.
  flag group(const std::string& name);

 private:
  CLI::Option* of_;
};

/// Reads flags into variables, by CLI11, whose headers take seconds to compile: flags.cpp alone includes
/// them.
class flag_parser {
 public:
  explicit flag_parser(const std::string& about);
  ~flag_parser();
  flag_parser(const flag_parser&) = delete;
  flag_parser& operator=(const flag_parser&) = delete;

  /// Value: a string, int, std::int64_t, std::size_t or double; or std::optional of one of the integers.
  template <class Value>
  flag add(const std::string& names, Value& into, const std::string& about);
  /// A flag whose values have names, in small or capital letters.
  template <class Value>
  flag add(const std::string& names, Value& into, const std::string& about,
           const std::map<std::string, Value>& values) {
    std::vector<std::string> known;
    for (const auto& [name, value] : values) known.push_back(name);
    return add_named(names, about, std::move(known),
                     [&into, &values](const std::string& name) { into = values.at(name); });
  }
  /// A flag without a value: true where it is given, or how often.
  flag add_switch(const std::string& names, bool& into, const std::string& about);
  flag add_switch(const std::string& names, int& into, const std::string& about);
  /// Called after the flags have been read. It may throw usage_error.
  void then(std::function<void()> check);
  void footer(const std::string& text);

  [[nodiscard]] std::string help() const;
  /// Rewrites flags as read() takes them: with two dashes where one was given, and values attached, so that a
  /// value may begin with a dash. Throws usage_error if there is no such flag.
  [[nodiscard]] flags rewritten(std::span<const std::string> given) const;
  /// Throws usage_error.
  void read(flags rewritten);
  void parse(std::span<const std::string> given) { read(rewritten(given)); }

 private:
  flag add_named(const std::string& names, const std::string& about, std::vector<std::string> known,
                 const std::function<void(const std::string&)>& take);

  std::unique_ptr<CLI::App> app_;
};

}  // namespace teff::bench
