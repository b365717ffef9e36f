#include "teff/graphs/configuration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "teff/bench/flags.hpp"

namespace teff::graphs {
namespace {

using bench::usage_error;
using std::int64_t;

constexpr int64_t default_period = 3;

/// A whole number of at least so much, with a message that quotes the flag as the user knows it.
bench::fault_of whole_number(int64_t least, std::string_view example) {
  return [=](const std::string& text) {
    int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure == std::errc{} && end == text.data() + text.size() && value >= least) return std::string{};
    const bool is_beyond = failure == std::errc::result_out_of_range;
    const std::string most = is_beyond ? fmt::format("to {}", std::numeric_limits<int64_t>::max()) : "up";
    return fmt::format("'{}' is not a whole number from {} {}; for example {}", text, least, most, example);
  };
}

bench::fault_of real_number(double least, double most, std::string_view example) {
  return [=](const std::string& text) {
    std::istringstream stream(text);
    double value = 0;
    if (stream >> value && stream.eof() && value >= least && value <= most) return std::string{};
    return fmt::format("'{}' is not a number from {} to {}; for example {}", text, least, most, example);
  };
}

template <class Range, class Name>
bench::fault_of one_of(const Range& choices, Name name) {
  std::vector<std::string> names;
  for (const auto& each : choices) names.emplace_back(name(each));
  return [names](const std::string& text) {
    if (std::ranges::find(names, text) != names.end()) return std::string{};
    return fmt::format("there is no '{}'{}; choose one of {}", text, bench::did_you_mean("", text, names),
                       fmt::join(names, ", "));
  };
}

/// One graph's flags, before they are a graph.
struct graph_flags {
  task_graph graph;
  std::string pattern = "trivial";
  std::string kernel = "empty";
  std::optional<int64_t> period;

  [[nodiscard]] task_graph build(int64_t index) const {
    task_graph built = graph;
    built.index = index;
    built.pattern = find_pattern(pattern);
    built.period = period.value_or(built.pattern->uses_period ? default_period : 0);
    built.kernel.kind = *parse_kernel_kind(kernel);
    if (std::string reason = built.check(); !reason.empty()) throw usage_error(reason);
    return built;
  }
};

constexpr std::array isas{isa::baseline, isa::avx2, isa::avx512};

/// Everything that flags can say. Graph flags belong to the segment between two -and.
struct flag_reader {
  bench::flag_parser flags{
      "A task bench: runs task graphs, checks every task and dependence, prints one record."};
  graph_flags graph;
  configuration result;
  std::string isa_name;
  int64_t fields = 0;
  bool another_graph = false;
  bool no_validate = false;
  bool skip_graph_validation = false;

  flag_reader() {
    graph_options();
    kernel_options();
    run_options();
    flags.footer(
        "Flags may be written with one dash, as in the published Task Bench. Example:\n"
        "  -steps 1000 -width 4 -type stencil_1d -kernel compute_bound -iter 1000 -and -steps 1000 -type "
        "fft");
  }

  void graph_options() {
    constexpr auto group = "Task graph";
    const auto pattern_name = [](const pattern& p) { return p.name; };
    flags.add("--steps", graph.graph.steps, "timesteps: the graph's height [4]")
        .checked_by(whole_number(1, "-steps 1000"))
        .group(group);
    flags.add("--width", graph.graph.width, "points in a timestep [4]")
        .checked_by(whole_number(1, "-width 4"))
        .group(group);
    flags
        .add("--type", graph.pattern,
             fmt::format("pattern of dependence: {} [trivial]", names(patterns(), pattern_name)))
        .checked_by(one_of(patterns(), pattern_name))
        .group(group);
    flags
        .add("--radix", graph.graph.radix,
             "dependencies of a task in nearest, spread and random patterns [3]")
        .checked_by(whole_number(0, "-radix 5"))
        .group(group);
    flags.add("--period", graph.period, "timesteps until spread and random patterns repeat [3]")
        .checked_by(whole_number(0, "-period 3"))
        .group(group);
    flags
        .add("--fraction", graph.graph.fraction,
             "part of the possible dependencies that random_nearest keeps [0.25]")
        .checked_by(real_number(0, 1, "-fraction 0.25"))
        .group(group);
    flags.add_switch("--and", another_graph, "what follows describes one more graph, run at the same time")
        .group(group);
  }

  void kernel_options() {
    constexpr auto group = "Tasks";
    const auto kernel_name = [](kernel_kind kind) { return name(kind); };
    kernel& k = graph.graph.kernel;
    flags
        .add("--kernel", graph.kernel,
             fmt::format("what a task computes: {} [empty]", names(kernel_kinds(), kernel_name)))
        .checked_by(one_of(kernel_kinds(), kernel_name))
        .group(group);
    flags.add("--iter", k.iterations, "iterations of the kernel [0]")
        .checked_by(whole_number(0, "-iter 1000"))
        .group(group);
    flags.add("--output", graph.graph.output_bytes, "bytes a task hands on to each that depends on it [16]")
        .checked_by(whole_number(sizeof(payload), "-output 16"))
        .group(group);
    flags.add("--scratch", graph.graph.scratch_bytes, "bytes of a worker's working set [0]")
        .checked_by(whole_number(0, "-scratch 1048576"))
        .group(group);
    flags.add("--sample", k.samples, "windows that the working set is cut into [16]")
        .checked_by(whole_number(1, "-sample 16"))
        .group(group);
    flags.add("--imbalance", k.imbalance, "spread of iterations in load_imbalance, as a part of them [0]")
        .checked_by(real_number(0, 2, "-imbalance 0.5"))
        .group(group);
    flags
        .add_switch("--persistent-imbalance", k.persistent_imbalance,
                    "a point draws its imbalance once, not at each timestep")
        .group(group);
  }

  void run_options() {
    constexpr auto group = "Run";
    const auto isa_of = [](isa each) { return name(each); };
    flags
        .add("--isa", isa_name,
             fmt::format("instructions of the kernels: {} [the best here]", names(isas, isa_of)))
        .checked_by(one_of(isas, isa_of))
        .group(group);
    flags.add("--nodes", result.nodes, "nodes for the estimate of local dependencies [0: none]")
        .checked_by(whole_number(1, "-nodes 2"))
        .group(group);
    flags.add_switch("--report", result.report, "text for people in the place of a record").group(group);
    flags
        .add_switch(
            "--no-validate", no_validate,
            "read the inputs without validating them, to measure what validation costs; the record says so")
        .group(group);
    flags
        .add_switch("-v,--verbose", result.verbosity,
                    "show the graphs before the run; twice: with reverse dependencies")
        .group(group);
    flags.add("--field", fields, "accepted for the published benchmark's scripts; without effect")
        .group(group);
    flags
        .add_switch(
            "--skip-graph-validation", skip_graph_validation,
            "accepted for the published benchmark's scripts; without effect, as validation is cheap here")
        .group(group);
  }

  template <class Range, class Name>
  static std::string names(const Range& choices, Name name) {
    std::vector<std::string> all;
    for (const auto& each : choices) all.emplace_back(name(each));
    return fmt::format("{}", fmt::join(all, ", "));
  }
};

/// Words that stand for other flags.
const std::map<std::string, std::vector<std::string>, std::less<>> abbreviations{
    {"-vv", {"--verbose", "--verbose"}}, {"-v", {"--verbose"}}};

std::vector<std::string> without_abbreviations(std::span<const std::string> flags) {
  std::vector<std::string> words;
  for (const std::string& word : flags) {
    const auto found = abbreviations.find(word);
    if (found == abbreviations.end()) {
      words.push_back(word);
    } else {
      words.insert(words.end(), found->second.begin(), found->second.end());
    }
  }
  return words;
}

/// Whether a rewritten flag changes how a run is shown, not what it runs.
[[nodiscard]] bool is_for_people(std::string_view word) {
  return word == "--report" || word == "--verbose";
}

configuration finish(flag_reader& reader) {
  configuration result = std::move(reader.result);
  if (!reader.isa_name.empty()) {
    result.isa = *parse_isa(reader.isa_name);
    if (!supported(result.isa))
      throw usage_error(fmt::format("-isa {}: this processor does not have it; the best here is {}",
                                    reader.isa_name, name(best_isa())));
  }
  result.validate = !reader.no_validate;
  return result;
}

}  // namespace

configuration parse_configuration(std::span<const std::string> flags) {
  flag_reader reader;
  std::vector<task_graph> graphs;
  std::vector<std::string> segment;
  std::string line;
  const auto end_graph = [&] {
    reader.graph = {};
    reader.flags.read(std::exchange(segment, {}));
    graphs.push_back(reader.graph.build(static_cast<int64_t>(graphs.size())));
  };
  for (std::string& word : reader.flags.rewritten(without_abbreviations(flags))) {
    if (!is_for_people(word)) line += (line.empty() ? "" : " ") + word;
    if (word == "--and") {
      end_graph();
    } else {
      segment.push_back(std::move(word));
    }
  }
  end_graph();
  configuration result = finish(reader);
  result.graphs = std::move(graphs);
  result.flags = std::move(line);
  return result;
}

configuration parse_configuration(const std::string& line) {
  return parse_configuration(bench::words_of(line));
}

std::string configuration_help() {
  return flag_reader().flags.help();
}

}  // namespace teff::graphs
