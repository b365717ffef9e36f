#include "teff/spawn/work.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "teff/graphs/configuration.hpp"

namespace teff::patterns {
namespace {

using bench::usage_error;

const std::map<std::string, pattern> pattern_names{{"serial", pattern::serial},
                                                   {"parallel", pattern::parallel},
                                                   {"fibonacci", pattern::fibonacci},
                                                   {"tree", pattern::tree}};
const std::map<std::string, spawning> spawning_names{{"both", spawning::both}, {"one", spawning::one}};
constexpr std::int32_t greatest_n = 90;  // whose Fibonacci number and count of calls fit 64 bits

std::int64_t plain_fibonacci(std::int32_t n) {
  std::int64_t before = 1;
  std::int64_t value = 0;
  for (std::int32_t i = 0; i < n; ++i) before = std::exchange(value, value + before);
  return value;
}

template <class Value>
std::vector<std::string> names(const std::map<std::string, Value>& of) {
  std::vector<std::string> all;
  for (const auto& [name, value] : of) all.push_back(name);
  return all;
}

std::string tree_names() {
  std::string names;
  for (const tree& each : known_trees()) names += fmt::format("{}{}", names.empty() ? "" : " ", each.name);
  return names;
}

/// The flags as they are read, before the tree has its parameters.
struct raw {
  work asked;
  std::string pattern;
  std::string spawn = "both";
  std::string tree = "T3";
  std::optional<std::int32_t> depth;
};

void add_work_flags(CLI::App& app, raw& into) {
  app.add_option("--pattern", into.pattern, "serial, parallel, fibonacci or tree")
      ->required()
      ->check(CLI::IsMember(names(pattern_names)))
      ->option_text("NAME");
  app.add_option("--tasks", into.asked.tasks, "null tasks of serial and parallel")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->option_text("COUNT");
  app.add_option("--n", into.asked.n, "of fibonacci")->check(CLI::Range(0, greatest_n))->option_text("N");
  app.add_option("--spawn", into.spawn, "fibonacci's children that are tasks: both or one")
      ->check(CLI::IsMember(names(spawning_names)))
      ->option_text("WHICH");
  app.add_option("--tree", into.tree, tree_names())->option_text("NAME");
  app.add_option("--depth", into.depth, "another depth of a geometric tree; its counts are computed first")
      ->check(CLI::Range(1, 100))
      ->option_text("D");
}

work finished(raw from) {
  from.asked.what = pattern_names.at(from.pattern);
  from.asked.children = spawning_names.at(from.spawn);
  const tree* named = find_tree(from.tree);
  if (named == nullptr) throw usage_error(fmt::format("no tree is called '{}': {}", from.tree, tree_names()));
  from.asked.tree = *named;
  if (from.depth && *from.depth != named->depth) {
    if (named->kind == tree::shape::binomial)
      throw usage_error(fmt::format("--depth {}: the binomial tree {} has none", *from.depth, named->name));
    from.asked.tree.depth = *from.depth;
    from.asked.tree.published.reset();
  }
  return from.asked;
}

void parse(CLI::App& app, std::span<const std::string> flags) {
  std::vector<std::string> reversed(flags.rbegin(), flags.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    throw;
  } catch (const CLI::ParseError& wrong) {
    throw usage_error(wrong.what());
  }
}

}  // namespace

result expected(const work& of) {
  result wanted;
  switch (of.what) {
    case pattern::serial:
    case pattern::parallel:
      wanted.null_tasks = {of.tasks, of.tasks * (of.tasks - 1) / 2};
      break;
    case pattern::fibonacci:
      wanted.fibonacci = plain_fibonacci(of.n);
      break;
    case pattern::tree:
      wanted.tree = of.tree.published ? *of.tree.published : search(of.tree, of.tree.root());
      break;
  }
  return wanted;
}

std::int64_t units(const work& of, const result& found) {
  switch (of.what) {
    case pattern::serial:
    case pattern::parallel:
      return found.null_tasks.tasks;
    case pattern::fibonacci:
      return 2 * plain_fibonacci(of.n + 1) - 1;
    case pattern::tree:
      return found.tree.nodes;
  }
  return 0;
}

std::string difference(const work& of, const result& found, const result& wanted) {
  if (found == wanted) return {};
  switch (of.what) {
    case pattern::serial:
    case pattern::parallel:
      if (found.null_tasks.tasks != wanted.null_tasks.tasks)
        return fmt::format("{} null tasks ran where {} were spawned", found.null_tasks.tasks,
                           wanted.null_tasks.tasks);
      return "a null task ran twice and another not at all: the sum of their indices is wrong";
    case pattern::fibonacci:
      return fmt::format("fib({}) came out as {} and is {}", of.n, found.fibonacci, wanted.fibonacci);
    case pattern::tree:
      return fmt::format("{} has {} nodes, {} leaves and depth {}; found were {}, {} and {}", of.tree.name,
                         wanted.tree.nodes, wanted.tree.leaves, wanted.tree.depth, found.tree.nodes,
                         found.tree.leaves, found.tree.depth);
  }
  return {};
}

command parse_command(std::span<const std::string> flags) {
  command asked;
  raw given;
  bool batch = false;
  bool identity = false;
  CLI::App app("Runs one of the spawn patterns and prints its record.");
  add_work_flags(app, given);
  app.add_flag("--batch", batch, "read a run's flags from each line of the input");
  app.add_flag("--identity", identity, "say which system this is");
  app.add_option("--profile", asked.profile_seconds, "say where the workers were, over so many seconds")
      ->check(CLI::Range(0.01, 600.0))
      ->option_text("SECONDS");
  app.add_option("--workers", asked.workers)->check(CLI::Range(1, 4096))->option_text("COUNT");
  const auto is = [&](const char* flag) { return std::ranges::find(flags, flag) != flags.end(); };
  if (is("--batch") || is("--identity")) app.get_option("--pattern")->required(false);
  try {
    parse(app, flags);
  } catch (const CLI::CallForHelp&) {
    asked.what = command::mode::help;
    asked.help = app.help();
    return asked;
  }
  if (identity) {
    asked.what = command::mode::identity;
  } else if (batch) {
    asked.what = command::mode::batch;
  } else {
    if (asked.profile_seconds > 0) asked.what = command::mode::profile;
    asked.work = finished(std::move(given));
  }
  return asked;
}

work parse_work(const std::string& line) {
  std::istringstream words(line);
  const std::vector<std::string> flags{std::istream_iterator<std::string>(words), {}};
  CLI::App app;
  app.set_help_flag();
  raw given;
  add_work_flags(app, given);
  parse(app, flags);
  return finished(std::move(given));
}

}  // namespace teff::patterns
