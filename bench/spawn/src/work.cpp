#include "teff/spawn/work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "teff/bench/failure.hpp"
#include "teff/bench/flags.hpp"

namespace teff::spawn {
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
struct flag_reader {
  bench::flag_parser flags{
      "Runs one of the spawn patterns, checks that every task ran once, prints its record."};
  command result;
  std::string pattern;
  std::string spawn = "both";
  std::string tree = "T3";
  std::optional<std::int32_t> depth;

  flag_reader() {
    work& asked = result.work;
    flags.add("--pattern", pattern, "serial, parallel, fibonacci or tree")
        .one_of(names(pattern_names))
        .takes("NAME");
    flags.add("--tasks", asked.tasks, "null tasks of serial and parallel")
        .within(std::int64_t{1}, std::int64_t{1} << 40)
        .takes("COUNT");
    flags.add("--n", asked.n, "of fibonacci").within(0, greatest_n).takes("N");
    flags.add("--spawn", spawn, "fibonacci's children that are tasks: both or one")
        .one_of(names(spawning_names))
        .takes("WHICH");
    flags.add("--tree", tree, tree_names()).takes("NAME");
    flags.add("--depth", depth, "another depth of a geometric tree; its counts are computed first")
        .within(1, 100)
        .takes("D");
    flags.add("--profile", result.profile_seconds, "say where the workers were, over so many seconds")
        .within(0.01, 600.0)
        .takes("SECONDS");
  }
};

command finished(flag_reader& from) {
  work& asked = from.result.work;
  if (from.pattern.empty()) throw usage_error("say --pattern: serial, parallel, fibonacci or tree");
  asked.what = pattern_names.at(from.pattern);
  asked.children = spawning_names.at(from.spawn);
  const tree* const named = find_tree(from.tree);
  if (named == nullptr) throw usage_error(fmt::format("no tree is called '{}': {}", from.tree, tree_names()));
  asked.tree = *named;
  if (from.depth && *from.depth != named->depth) {
    if (named->kind == tree::shape::binomial)
      throw usage_error(fmt::format("--depth {}: the binomial tree {} has none", *from.depth, named->name));
    asked.tree.depth = *from.depth;
    asked.tree.published.reset();
  }
  return from.result;
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
  flag_reader reader;
  reader.flags.parse(flags);
  return finished(reader);
}

work parse_work(const std::string& line) {
  return parse_command(bench::words_of(line)).work;
}

std::string_view name(pattern of) {
  return std::ranges::find(pattern_names, of, [](const auto& named) { return named.second; })->first;
}

std::string command_help() {
  return flag_reader().flags.help();
}

}  // namespace teff::spawn
