#include "teff/bench/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace teff::bench {
namespace {

constexpr std::size_t page = 4096;

std::int64_t greatest_scratch(const configuration& work) {
  std::int64_t bytes = 0;
  for (const task_graph& graph : work.graphs) bytes = std::max(bytes, graph.scratch_bytes);
  return bytes;
}

/// Where the pairs of `bytes` differ from `expected`, the index of the first; else -1. A trailing part of a
/// pair is nobody's and not looked at.
std::int64_t find_corrupted_pair(input bytes, payload expected) {
  const std::size_t pairs = bytes.size() / sizeof(payload);
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < pairs; ++i) {  // no branch: the loop vectorises
    payload found;
    std::memcpy(&found, bytes.data() + i * sizeof(payload), sizeof(payload));
    difference |= static_cast<std::uint64_t>(found.timestep ^ expected.timestep) |
                  static_cast<std::uint64_t>(found.point ^ expected.point);
  }
  if (difference == 0) [[likely]]
    return -1;
  for (std::size_t i = 0; i < pairs; ++i)
    if (std::memcmp(bytes.data() + i * sizeof(payload), &expected, sizeof(payload)) != 0)
      return static_cast<std::int64_t>(i);
  return -1;
}

void fill(std::span<std::byte> output, payload name) {
  for (std::size_t at = 0; at + sizeof(payload) <= output.size(); at += sizeof(payload))
    std::memcpy(output.data() + at, &name, sizeof(payload));
}

}  // namespace

worker::worker(std::span<const dependence_table> tables, const configuration& work)
    : validate_(work.validate), tables_(tables) {
  for (const dependence_table& table : tables) {
    const task_graph& graph = table.graph();
    const kernel& k = graph.kernel;
    kernels_.push_back({select_kernel(k.kind, work.isa), k.kind != kernel_kind::load_imbalance,
                        k.flops(k.iterations, graph.scratch_bytes),
                        k.bytes(k.iterations, graph.scratch_bytes)});
  }
  const auto bytes = static_cast<std::size_t>(greatest_scratch(work));
  if (bytes == 0) return;
  scratch_memory_ = std::make_unique<std::byte[]>(bytes + page);
  void* aligned = scratch_memory_.get();
  std::size_t space = bytes + page;
  scratch_ = {static_cast<std::byte*>(std::align(page, bytes, aligned, space)), bytes};
  prepare_scratch(scratch_);
}

void worker::validate(std::size_t index, std::int64_t timestep, std::int64_t point,
                      std::span<std::byte> output, std::span<const input> inputs) {
  const dependence_table& table = tables_[index];
  const task_graph& graph = table.graph();
  const auto here = [&] { return fmt::format("graph {} timestep {} point {}", index, timestep, point); };
  if (!table.points(timestep).contains(point)) [[unlikely]]
    return note(fmt::format("{}: the graph has no such task", here()));

  const auto bytes = static_cast<std::size_t>(graph.output_bytes);
  std::size_t count = 0;
  std::uint64_t weight = 1;
  for (const std::int64_t expected : table.inputs(timestep, point)) {
    if (count == inputs.size()) [[unlikely]]
      return note(fmt::format("{}: {} inputs where {} are due; point {} is missing", here(), inputs.size(),
                              table.inputs(timestep, point).size(), expected));
    const input& given = inputs[count++];
    if (given.size() != bytes) [[unlikely]]
      return note(fmt::format("{}: input {} has {} bytes in the place of {}", here(), count - 1, given.size(),
                              bytes));
    if (const auto at = find_corrupted_pair(given, {timestep - 1, expected}); at >= 0) [[unlikely]] {
      payload found;
      std::memcpy(&found, given.data() + static_cast<std::size_t>(at) * sizeof(payload), sizeof(payload));
      return note(fmt::format(
          "{}: input {} should be timestep {} point {}, but its pair {} says timestep {} point {}", here(),
          count - 1, timestep - 1, expected, at, found.timestep, found.point));
    }
    weight += point_weight(expected);
  }
  if (count != inputs.size()) [[unlikely]]
    return note(fmt::format("{}: {} inputs where {} are due", here(), inputs.size(), count));
  if (output.size() != bytes) [[unlikely]]
    return note(
        fmt::format("{}: the output has room for {} bytes in the place of {}", here(), output.size(), bytes));

  ++done_.tasks;
  done_.dependencies += static_cast<std::int64_t>(count);
  done_.checksum += task_weight(graph.index, timestep, point) * weight;
}

void worker::compute(std::size_t index, std::int64_t timestep, std::int64_t point,
                     std::span<std::byte> output) {
  fill(output, {timestep, point});
  const task_graph& graph = tables_[index].graph();
  const prepared_kernel& kernel = kernels_[index];
  std::int64_t iterations = graph.kernel.iterations;
  if (kernel.same_for_all) [[likely]] {
    done_.flops += kernel.flops;
    done_.bytes += kernel.bytes;
  } else {
    iterations = graph.kernel.iterations_of(graph.index, timestep, point);
    done_.flops += graph.kernel.flops(iterations, graph.scratch_bytes);
    done_.bytes += graph.kernel.bytes(iterations, graph.scratch_bytes);
  }
  kernel.run(graph.kernel, iterations, timestep,
             scratch_.first(static_cast<std::size_t>(graph.scratch_bytes)));
}

void worker::note(std::string reason) {
  if (error_.empty()) error_ = std::move(reason);
}

workload::workload(configuration work, int workers) : work_(std::move(work)) {
  tables_.reserve(work_.graphs.size());
  for (const task_graph& graph : work_.graphs) tables_.emplace_back(graph);
  for (int i = 0; i < workers; ++i) workers_.emplace_back(tables_, work_);
}

tally workload::done() const {
  tally total;
  for (const bench::worker& each : workers_) total += each.done();
  return total;
}

std::string workload::error() const {
  for (const bench::worker& each : workers_)
    if (!each.error().empty()) return each.error();
  return {};
}

tally workload::expected() const {
  tally total;
  for (const dependence_table& table : tables_) total += expected_tally(table);
  return total;
}

}  // namespace teff::bench
