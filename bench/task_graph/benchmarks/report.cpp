#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>

#include "teff/bench/failure.hpp"

namespace teff::graphs {
namespace {

std::string as_json(const spread& s) {
  return fmt::format(R"({{"min":{:.6g},"median":{:.6g},"max":{:.6g}}})", s.min, s.median, s.max);
}

}  // namespace

std::optional<int> read_command(bench::flag_parser& parser, int argc, char** argv) {
  bool is_asked = false;
  parser.add_switch("--help", is_asked, "show this text");
  try {
    parser.parse(bench::flags(argv + 1, argv + argc));
  } catch (const bench::usage_error& fault) {
    fmt::print(stderr, "error: {}\n", fault.what());
    return 2;
  }
  if (!is_asked) return std::nullopt;
  fmt::print("{}", parser.help());
  return 0;
}

spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  const double median = values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {values.front(), median, values.back()};
}

comparison compare(std::string kernel, const std::vector<double>& kernel_rates, std::string reference,
                   const std::vector<double>& reference_rates, int threads) {
  std::vector<double> ratios(kernel_rates.size());
  std::ranges::transform(kernel_rates, reference_rates, ratios.begin(), std::divides<>());
  return {std::move(kernel),       std::move(reference),       threads,
          spread_of(kernel_rates), spread_of(reference_rates), spread_of(ratios)};
}

std::string as_table(const std::vector<comparison>& rows, const std::string& unit) {
  std::string text = fmt::format("{:<26}{:>10}   {:<24}{:>10}  threads   ratio: min median max\n", "kernel",
                                 unit, "reference", unit);
  for (const comparison& row : rows)
    text +=
        fmt::format("{:<26}{:>10.2f}   {:<24}{:>10.2f}  {:>7}          {:.3f} {:.3f} {:.3f}\n", row.kernel,
                    row.kernel_rate.median / 1e9, row.reference, row.reference_rate.median / 1e9, row.threads,
                    row.ratio.min, row.ratio.median, row.ratio.max);
  return text;
}

std::string as_json(const std::vector<comparison>& rows) {
  std::string text;
  for (const comparison& row : rows)
    text += fmt::format(
        R"({}{{"kernel":"{}","reference":"{}","threads":{},"kernel_rate":{},"reference_rate":{},"ratio":{}}})",
        text.empty() ? "" : ",", row.kernel, row.reference, row.threads, as_json(row.kernel_rate),
        as_json(row.reference_rate), as_json(row.ratio));
  return "[" + text + "]";
}

}  // namespace teff::graphs
