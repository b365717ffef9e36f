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

payload pair_of(input bytes, std::size_t index) {
  payload pair;
  std::memcpy(&pair, bytes.data() + index * sizeof(payload), sizeof(payload));
  return pair;
}

std::uint64_t difference_of_pair(input bytes, std::size_t index, payload expected) {
  const payload found = pair_of(bytes, index);
  return static_cast<std::uint64_t>(found.timestep ^ expected.timestep) |
         static_cast<std::uint64_t>(found.point ^ expected.point);
}

/// 0 where all pairs of `bytes` but the first say `expected`. A trailing part of a pair is nobody's and not
/// looked at. Not inlined: validate() needs the registers.
[[gnu::noinline]] std::uint64_t difference_of_rest(input bytes, payload expected) {
  std::uint64_t any = 0;
  for (std::size_t i = 1; i < bytes.size() / sizeof(payload); ++i)  // no branch: the loop vectorises
    any |= difference_of_pair(bytes, i, expected);
  return any;
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

void worker::execute(std::size_t index, std::int64_t timestep, std::int64_t point,
                     std::span<std::byte> output, std::span<const input> inputs) {
  if (!validate_) {
    ++done_.tasks;
    done_.dependencies += static_cast<std::int64_t>(inputs.size());
  } else if (!validate(index, timestep, point, output, inputs)) [[unlikely]] {
    note(explain(index, timestep, point, output, inputs));
  }
  compute(index, timestep, point, output);
}

// What it costs is paid by every task of every system, the smallest ones too: it only finds out whether
// anything is wrong, and leaves what that is to explain().
inline bool worker::validate(std::size_t index, std::int64_t timestep, std::int64_t point,
                             std::span<std::byte> output, std::span<const input> inputs) {
  const dependence_table& table = tables_[index];
  const task_graph& graph = table.graph();
  const auto bytes = static_cast<std::size_t>(graph.output_bytes);
  if (!table.points(timestep).contains(point) || output.size() != bytes) [[unlikely]]
    return false;

  const point_range due = table.inputs(timestep, point);
  const input* given = inputs.data();
  const input* const end = given + inputs.size();
  std::uint64_t weight = 1;
  for (const interval& part : due.intervals()) {
    const interval points = part.clipped_to(due.bounds());
    for (std::int64_t each = points.first; each <= points.last; ++each, ++given) {
      if (given == end || given->size() != bytes) [[unlikely]]
        return false;
      const payload expected{timestep - 1, each};
      if (difference_of_pair(*given, 0, expected) != 0) [[unlikely]]
        return false;
      if (bytes >= 2 * sizeof(payload) && difference_of_rest(*given, expected) != 0) return false;
      weight += point_weight(each);
    }
  }
  if (given != end) [[unlikely]]
    return false;

  ++done_.tasks;
  done_.dependencies += static_cast<std::int64_t>(inputs.size());
  done_.checksum += task_weight(graph.index, timestep, point) * weight;
  return true;
}

std::string worker::explain(std::size_t index, std::int64_t timestep, std::int64_t point,
                            std::span<std::byte> output, std::span<const input> inputs) const {
  const dependence_table& table = tables_[index];
  const std::string here = fmt::format("graph {} timestep {} point {}", index, timestep, point);
  if (!table.points(timestep).contains(point)) return here + ": the graph has no such task";

  const auto bytes = static_cast<std::size_t>(table.graph().output_bytes);
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
  return fmt::format("{}: the output has room for {} bytes in the place of {}", here, output.size(), bytes);
}

inline void worker::compute(std::size_t index, std::int64_t timestep, std::int64_t point,
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
