#include "teff/apps/work.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <vector>

#include "teff/bench/failure.hpp"
#include "teff/bench/flags.hpp"

namespace teff::apps {
namespace {

constexpr std::string_view usual_app = "gemm";

/// The last lines of an app's help: its ways, and the meaning of its keys in a record.
std::string footer_of(const description& what) {
  std::vector<std::string_view> ways;
  for (const way_kind each : what.ways) ways.push_back(name_of(each));
  std::string text = fmt::format("Ways: {}. Unit of work: {}. In the record:\n  {:<27} {}",
                                 fmt::join(ways, ", "), what.unit, "validation.residual", what.residual);
  for (const auto& [name, meaning] : what.own)
    text += fmt::format("\n  {:<27} {}", fmt::format("own.{}", name), meaning);
  return text;
}

struct flag_reader {
  bench::flag_parser flags;
  std::string app;  // known already
  std::int64_t tasks = 0;
  description::maker make;

  explicit flag_reader(const description& what) : flags(std::string(what.title)) {
    flags.add("--app", app, std::string(what.name)).takes("WORD");
    if (!what.on_tiles)
      flags
          .add("--tasks", tasks,
               "how many tasks a loop is cut into; auto or 0: four for each worker, or one worksharing task")
          .or_word("auto", 0)
          .within(std::int64_t{0}, std::numeric_limits<std::int64_t>::max())
          .takes("COUNT");
    make = what.flags(flags);
    flags.footer(footer_of(what));
  }
};

/// The value of -app in small letters, or the usual one.
std::string app_named(std::span<const std::string> flags) {
  std::string name(usual_app);
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string word = flags[i].substr(std::min(flags[i].find_first_not_of('-'), flags[i].size()));
    if (word == "app" && i + 1 < flags.size()) name = flags[i + 1];
    if (word.starts_with("app=")) name = word.substr(4);
  }
  std::ranges::transform(name, name.begin(), [](unsigned char each) { return std::tolower(each); });
  return name;
}

const description& described(const std::string& name) {
  std::vector<std::string_view> known;
  for (const description& each : all_apps()) {
    if (each.name == name) return each;
    known.push_back(each.name);
  }
  throw bench::usage_error(
      fmt::format("-app: no app is called '{}'; there are: {}", name, fmt::join(known, " ")));
}

}  // namespace

work parse_work(std::span<const std::string> flags) {
  const description& what = described(app_named(flags));
  flag_reader reader(what);
  reader.flags.parse(flags);
  return {&what, std::move(reader.make), reader.tasks};
}

std::string work_help() {
  std::string all;
  for (const description& what : all_apps()) all += flag_reader(what).flags.help();
  return all;
}

}  // namespace teff::apps
