#include "teff/graphs/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace teff::graphs {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t line = 64;

std::int64_t greatest_scratch(const configuration& work) {
  std::int64_t bytes = 0;
  for (const task_graph& graph : work.graphs) bytes = std::max(bytes, graph.scratch_bytes);
  return bytes;
}

payload pair_of(input bytes, std::size_t index) {
  payload pair;
  std::memcpy(&pair, bytes.data() + index * sizeof(payload), sizeof(payload));
  return pair;
}

std::uint64_t difference_of(payload found, payload expected) {
  return static_cast<std::uint64_t>(found.timestep ^ expected.timestep) |
         static_cast<std::uint64_t>(found.point ^ expected.point);
}

/// 0 where each of the inputs repeats its first pair to its end. No check covers a trailing part of a pair.
[[gnu::noinline]] std::uint64_t difference_of_rests(const input* inputs, std::size_t count) {
  std::uint64_t any = 0;
  for (const input* each = inputs; each != inputs + count; ++each)
    for (std::size_t i = 1; i < each->size() / sizeof(payload); ++i)  // no branch: the loop vectorises
      any |= difference_of(pair_of(*each, i), pair_of(*each, 0));
  return any;
}

/// Reads a pair of each cache line of the inputs, and does nothing with it.
void read(const input* inputs, std::size_t count) {
  for (const input* each = inputs; each != inputs + count; ++each)
    for (std::size_t at = 0; at + sizeof(payload) <= each->size(); at += line) {
      const payload found = pair_of(each->subspan(at), 0);
      asm volatile("" : : "r"(found.timestep), "r"(found.point));
    }
}

void fill(std::byte* output, std::size_t bytes, payload name) {
  for (std::size_t at = 0; at + sizeof(payload) <= bytes; at += sizeof(payload))
    std::memcpy(output + at, &name, sizeof(payload));
}

/// The reason why a task is not right.
std::string explain(const dependence_table& table, std::int64_t timestep, std::int64_t point,
                    std::size_t output_bytes, std::span<const input> inputs) {
  const task_graph& graph = table.graph();
  const std::string here = fmt::format("graph {} timestep {} point {}", graph.index, timestep, point);
  if (!table.points(timestep).contains(point)) return here + ": the graph has no such task";

  const auto bytes = static_cast<std::size_t>(graph.output_bytes);
  const point_range due = table.inputs(timestep, point);
  std::size_t count = 0;
  for (const std::int64_t expected : due) {
    if (count == inputs.size())
      return fmt::format("{}: {} inputs where {} are due; point {} is missing", here, count, due.size(),
                         expected);
    const input& given = inputs[count];
    if (given.size() != bytes)
      return fmt::format("{}: input {} has {} bytes in the place of {}", here, count, given.size(), bytes);
    for (std::size_t i = 0; i < bytes / sizeof(payload); ++i)
      if (const payload found = pair_of(given, i); found.timestep != timestep - 1 || found.point != expected)
        return fmt::format(
            "{}: input {} should be timestep {} point {}, but its pair {} says timestep {} point {}", here,
            count, timestep - 1, expected, i, found.timestep, found.point);
    ++count;
  }
  if (count != inputs.size())
    return fmt::format("{}: {} inputs where {} are due", here, inputs.size(), count);
  return fmt::format("{}: the output has room for {} bytes in the place of {}", here, output_bytes, bytes);
}

/// The reason why a kernel's output is not right; empty if it is.
std::string explain_output(const dependence_table& table, std::int64_t timestep, std::int64_t point,
                           input output, bool computed) {
  const task_graph& graph = table.graph();
  const auto bytes = static_cast<std::size_t>(graph.output_bytes);
  const payload name{timestep, point};
  bool named = output.size() == bytes;
  for (std::size_t i = 0; named && i < bytes / sizeof(payload); ++i)
    named = difference_of(pair_of(output, i), name) == 0;
  if (named && computed) return {};
  return fmt::format(
      "graph {} timestep {} point {}: {}", graph.index, timestep, point,
      named ? "the kernel did not compute what it should" : "the kernel did not write the output");
}

}  // namespace

worker::worker(std::span<const dependence_table> tables, std::span<const input_checks> checks,
               const configuration& work)
    : validate_(work.validate) {
  if (const auto bytes = static_cast<std::size_t>(greatest_scratch(work)); bytes > 0) {
    scratch_memory_ = std::make_unique<std::byte[]>(bytes + page);
    void* aligned = scratch_memory_.get();
    std::size_t space = bytes + page;
    scratch_ = {static_cast<std::byte*>(std::align(page, bytes, aligned, space)), bytes};
    prepare_scratch(scratch_);
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const task_graph& graph = tables[i].graph();
    const kernel& k = graph.kernel;
    graphs_.push_back(
        {select_kernel(k.kind, work.isa), &k, k.iterations,
         scratch_.first(static_cast<std::size_t>(graph.scratch_bytes)), k.kind != kernel_kind::load_imbalance,
         k.flops(k.iterations, graph.scratch_bytes), k.bytes(k.iterations, graph.scratch_bytes),
         static_cast<std::size_t>(graph.output_bytes), checks.empty() ? nullptr : &checks[i], &tables[i]});
  }
}

void worker::execute(const prepared_graph& graph, std::int64_t timestep, std::int64_t point,
                     std::byte* output, std::size_t output_bytes, const input* inputs, std::size_t count) {
  ++done_.tasks;
  done_.dependencies += static_cast<std::int64_t>(count);
  if (!validate_) {
    read(inputs, count);
  } else if (output_bytes != graph.output_bytes || !validate(graph, timestep, point, inputs, count))
      [[unlikely]] {
    note(graph, timestep, point, output_bytes, inputs, count);
  }
  compute(graph, timestep, point);
  // Last, next to the counter that the adapter tells others: a thread that waits on the same line has not
  // fetched it since.
  fill(output, output_bytes, {timestep, point});
}

// Every task of every system pays for this check, the smallest ones too. So it only finds out whether
// anything is wrong; explain() finds the reason.
inline bool worker::validate(const prepared_graph& graph, std::int64_t timestep, std::int64_t point,
                             const input* inputs, std::size_t count) {
  const input_checks::row* const due = graph.checks->find(timestep, point);
  if (due == nullptr) [[unlikely]]
    return validate_any(graph, timestep, point, inputs, count);
  if (count != due->count) [[unlikely]]
    return false;
  const std::size_t bytes = graph.output_bytes;
  const input* given = inputs;
  std::uint64_t difference = 0;
  for (const interval& points : due->points)
    for (std::int64_t each = points.first; each <= points.last; ++each, ++given) {
      if (given->size() != bytes) [[unlikely]]
        return false;
      difference |= difference_of(pair_of(*given, 0), {timestep - 1, each});
    }
  if (bytes >= 2 * sizeof(payload)) difference |= difference_of_rests(inputs, count);
  if (difference != 0) [[unlikely]]
    return false;
  done_.checksum += timestep_weight(timestep) * due->weight;
  return true;
}

bool worker::validate_any(const prepared_graph& graph, std::int64_t timestep, std::int64_t point,
                          const input* inputs, std::size_t count) {
  const dependence_table& table = *graph.table;
  if (!table.points(timestep).contains(point)) return false;
  const point_range due = table.inputs(timestep, point);
  const input* given = inputs;
  for (const std::int64_t each : due) {
    if (given == inputs + count || given->size() != graph.output_bytes) return false;
    if (difference_of(pair_of(*given++, 0), {timestep - 1, each}) != 0) return false;
  }
  if (given != inputs + count || difference_of_rests(inputs, count) != 0) return false;
  done_.checksum += timestep_weight(timestep) * point_weight(table.graph().index, point) * inputs_weight(due);
  return true;
}

inline void worker::compute(const prepared_graph& graph, std::int64_t timestep, std::int64_t point) {
  const std::int64_t iterations = count_work(graph, timestep, point);
  graph.run(*graph.kernel, iterations, timestep, graph.scratch);
}

inline std::int64_t worker::count_work(const prepared_graph& graph, std::int64_t timestep,
                                       std::int64_t point) {
  if (graph.same_for_all) [[likely]] {
    done_.flops += graph.flops;
    done_.bytes += graph.bytes;
    return graph.iterations;
  }
  const std::int64_t scratch_bytes = graph.table->graph().scratch_bytes;
  const std::int64_t iterations = graph.kernel->iterations_of(graph.table->graph().index, timestep, point);
  done_.flops += graph.kernel->flops(iterations, scratch_bytes);
  done_.bytes += graph.kernel->bytes(iterations, scratch_bytes);
  return iterations;
}

std::int64_t worker::begin(std::size_t index, std::int64_t timestep, std::int64_t point,
                           std::span<const input> inputs) {
  const prepared_graph& graph = graphs_[index];
  done_.dependencies += static_cast<std::int64_t>(inputs.size());
  if (!validate_)
    read(inputs.data(), inputs.size());
  else if (!validate(graph, timestep, point, inputs.data(), inputs.size()))
    note(graph, timestep, point, graph.output_bytes, inputs.data(), inputs.size());
  return count_work(graph, timestep, point);
}

void worker::end(std::size_t index, std::int64_t timestep, std::int64_t point, input output, bool computed) {
  ++done_.tasks;
  if (!validate_ || !error_.empty()) return;
  error_ = explain_output(*graphs_[index].table, timestep, point, output, computed);
}

void worker::note(const prepared_graph& graph, std::int64_t timestep, std::int64_t point,
                  std::size_t output_bytes, const input* inputs, std::size_t count) {
  if (error_.empty()) error_ = explain(*graph.table, timestep, point, output_bytes, {inputs, count});
}

workload::workload(configuration work, int workers) : work_(std::move(work)) {
  tables_.reserve(work_.graphs.size());
  for (const task_graph& graph : work_.graphs) tables_.emplace_back(graph);
  if (work_.validate)
    for (const dependence_table& table : tables_) checks_.emplace_back(table);
  for (int i = 0; i < workers; ++i) workers_.emplace_back(tables_, checks_, work_);
}

std::int64_t workload::steps() const {
  std::int64_t most = 0;
  for (const task_graph& graph : work_.graphs) most = std::max(most, graph.steps);
  return most;
}

counters workload::done() const {
  if (simulated_) return simulated_->done;
  counters total;
  for (const graphs::worker& each : workers_) total += each.done();
  return total;
}

std::string workload::error() const {
  for (const graphs::worker& each : workers_)
    if (!each.error().empty()) return each.error();
  return {};
}

counters workload::expected() const {
  counters total;
  for (const dependence_table& table : tables_) total += expected_counters(table);
  return total;
}

}  // namespace teff::graphs
