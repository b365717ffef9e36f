// libteff_bench.so: task graphs and their sessions, in C. No exception passes, and no decision is made here.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "measured_run.hpp"
#include "task_graph_benchmark.hpp"
#include "teff/bench/cores.hpp"
#include "teff/bench/failure.hpp"
#include "teff/bench/session.hpp"
#include "teff/graphs/kept_outputs.hpp"
#include "teff/graphs/task_order.hpp"
#include "teff_bench.h"

using namespace teff::bench;
using namespace teff::graphs;

struct teff_workload {
  teff_workload(configuration work, int workers) : run(std::move(work), workers) {
    std::size_t most = 0;
    for (std::size_t i = 0; i < load().graphs(); ++i) most = std::max(most, load().table(i).max_inputs());
    spans.resize(static_cast<std::size_t>(workers));
    for (auto& each : spans) each.reserve(most);
  }

  [[nodiscard]] workload& load() { return run.load(); }
  [[nodiscard]] const workload& load() const { return run.load(); }
  [[nodiscard]] const dependence_table* table(std::int32_t graph) const {
    const auto index = static_cast<std::size_t>(graph);
    return index < load().graphs() ? &load().table(index) : nullptr;
  }

  /// Made when it is first asked for: most adapters ask only what reads what.
  [[nodiscard]] const task_order& order(const dependence_table& of) const {
    std::call_once(ordered, [&] {
      for (std::size_t i = 0; i < load().graphs(); ++i) orders.emplace_back(load().table(i));
    });
    return orders[static_cast<std::size_t>(&of - &load().table(0))];
  }

  void fail(std::string reason) {
    const std::lock_guard lock(error_mutex);
    if (error.empty()) error = std::move(reason);
  }
  [[nodiscard]] outcome take_outcome() const {
    const std::lock_guard lock(error_mutex);
    return run.finish(error);
  }

  measured_run run;
  std::vector<std::vector<input>> spans;  ///< a worker's inputs, as worker::execute takes them
  std::deque<kept_outputs> kept;          ///< of each graph, if the adapter lets us keep them
  mutable std::once_flag ordered;
  mutable std::deque<task_order> orders;  ///< of each graph
  mutable std::mutex error_mutex;
  std::string error;   ///< of the adapter's, guarded by error_mutex
  std::string record;  ///< what teff_record returned last
};

struct teff_session {
  task_graph_benchmark kind;
  request asked;
  bool over = false;
  identity who;
  std::optional<session> program;  // set once the identity is known
  std::optional<teff_workload> now;
};

namespace {

std::string& last_error() {
  thread_local std::string text;
  return text;
}

/// Calls function(). An exception becomes teff_error(), and `otherwise` the result.
template <class Result, class Function>
Result guarded(Result otherwise, Function function) noexcept try {
  return function();
} catch (const std::exception& failure) {
  try {
    last_error() = reason_of(failure);
  } catch (...) {  // no memory even for that
  }
  return otherwise;
}

/// As guarded, for what returns nothing and can only fail for want of memory: that makes the run a failed
/// one.
template <class Function>
void noted_in(teff_workload& work, Function function) noexcept {
  const bool fine = guarded(false, [&] { return function(), true; });
  if (!fine) guarded(0, [&] { return work.fail(last_error()), 0; });
}

std::string text_or_nothing(const char* text) {
  return text == nullptr ? "" : text;
}

identity from_c(const teff_identity& who) {
  return {text_or_nothing(who.system), text_or_nothing(who.variant), text_or_nothing(who.version),
          who.workers, who.ranks};
}

outcome from_c(const teff_outcome& of) {
  return {{of.done.tasks, of.done.dependencies, of.done.flops, of.done.bytes, of.done.checksum},
          {of.cpu_seconds, of.voluntary_switches, of.involuntary_switches, of.gap_share_before,
           of.gap_share_after},
          of.elapsed_seconds,
          std::string(of.error, strnlen(of.error, sizeof(of.error)))};
}

teff_outcome to_c(const outcome& of) {
  teff_outcome result{{of.done.tasks, of.done.dependencies, of.done.flops, of.done.bytes, of.done.checksum},
                      of.elapsed_seconds,
                      of.seen.cpu_seconds,
                      of.seen.voluntary_switches,
                      of.seen.involuntary_switches,
                      of.seen.gap_share_before,
                      of.seen.gap_share_after,
                      {}};
  of.error.copy(result.error, sizeof(result.error) - 1);
  return result;
}

teff::graphs::record validated(teff_workload& work, const identity& who, const teff_outcome* outcomes,
                               std::int32_t count) {
  std::vector<outcome> all;
  for (std::int32_t i = 0; i < count; ++i) all.push_back(from_c(outcomes[i]));
  if (all.empty()) all.push_back(work.take_outcome());
  return validate(who, work.load(), all, work.run.started_at());
}

void append(std::int64_t point, std::int64_t* points, std::int64_t capacity, std::int64_t& count) {
  if (count < capacity) points[count] = point;
  ++count;
}

std::int64_t write(const point_range& range, std::int64_t* points, std::int64_t capacity) {
  std::int64_t count = 0;
  for (const std::int64_t point : range) append(point, points, capacity, count);
  return count;
}

void check_worker(const teff_workload& work, std::int32_t worker) {
  if (worker < 0 || worker >= work.load().workers())
    throw usage_error(fmt::format("worker {}: there are {} here", worker, work.load().workers()));
}

/// The table of a graph that has the task, or nothing.
const dependence_table* table_with(const teff_workload& work, std::int32_t graph, std::int64_t timestep,
                                   std::int64_t point) {
  const dependence_table* table = work.table(graph);
  return table != nullptr && table->points(timestep).contains(point) ? table : nullptr;
}

}  // namespace

std::int32_t teff_abi_version() {
  return TEFF_BENCH_ABI;
}

const char* teff_error() {
  return last_error().c_str();
}

teff_workload* teff_workload_new(const char* flags, std::int32_t workers) {
  return guarded<teff_workload*>(nullptr, [&] {
    if (workers < 0) throw usage_error(fmt::format("{} workers: give 0 or more", workers));
    return new teff_workload(parse_configuration(text_or_nothing(flags)), workers);
  });
}

void teff_workload_free(teff_workload* work) {
  delete work;
}

const char* teff_flags(const teff_workload* work) {
  return work->load().work().flags.c_str();
}

std::int32_t teff_graphs(const teff_workload* work) {
  return static_cast<std::int32_t>(work->load().graphs());
}

std::int64_t teff_steps(const teff_workload* work, std::int32_t graph) {
  const dependence_table* table = work->table(graph);
  return table == nullptr ? 0 : table->graph().steps;
}

std::int64_t teff_width(const teff_workload* work, std::int32_t graph) {
  const dependence_table* table = work->table(graph);
  return table == nullptr ? 0 : table->graph().width;
}

std::int64_t teff_output_bytes(const teff_workload* work, std::int32_t graph) {
  const dependence_table* table = work->table(graph);
  return table == nullptr ? 0 : table->graph().output_bytes;
}

std::int64_t teff_max_inputs(const teff_workload* work, std::int32_t graph) {
  const dependence_table* table = work->table(graph);
  return table == nullptr ? 0 : static_cast<std::int64_t>(table->max_inputs());
}

std::int64_t teff_max_consumers(const teff_workload* work, std::int32_t graph) {
  const dependence_table* table = work->table(graph);
  return table == nullptr ? 0 : static_cast<std::int64_t>(table->max_consumers());
}

std::int64_t teff_points(const teff_workload* work, std::int32_t graph, std::int64_t timestep,
                         std::int64_t* first) {
  const dependence_table* table = work->table(graph);
  const interval points = table == nullptr ? interval{} : table->points(timestep);
  if (first != nullptr) *first = points.first;
  return points.size();
}

std::int64_t teff_inputs(const teff_workload* work, std::int32_t graph, std::int64_t timestep,
                         std::int64_t point, std::int64_t* points, std::int64_t capacity) {
  const dependence_table* table = table_with(*work, graph, timestep, point);
  return table == nullptr ? 0 : write(table->inputs(timestep, point), points, capacity);
}

std::int64_t teff_consumers(const teff_workload* work, std::int32_t graph, std::int64_t timestep,
                            std::int64_t point, std::int64_t* points, std::int64_t capacity) {
  const dependence_table* table = table_with(*work, graph, timestep, point);
  return table == nullptr ? 0 : write(table->consumers(timestep, point), points, capacity);
}

std::int64_t teff_predecessors(const teff_workload* work, std::int32_t graph, std::int64_t timestep,
                               std::int64_t point, std::int64_t* points, std::int64_t capacity) {
  std::int64_t count = 0;
  const auto add = [&](std::int64_t each) { append(each, points, capacity, count); };
  if (const dependence_table* table = table_with(*work, graph, timestep, point))
    work->order(*table).for_each_predecessor(timestep, point, add);
  return count;
}

std::int64_t teff_successors(const teff_workload* work, std::int32_t graph, std::int64_t timestep,
                             std::int64_t point, std::int64_t* points, std::int64_t capacity) {
  std::int64_t count = 0;
  const auto add = [&](std::int64_t each) { append(each, points, capacity, count); };
  if (const dependence_table* table = table_with(*work, graph, timestep, point))
    work->order(*table).for_each_successor(timestep, point, add);
  return count;
}

std::int64_t teff_cycle(const teff_workload* work, std::int32_t graph) {
  const dependence_table* table = work->table(graph);
  if (table == nullptr || table->graph().pattern->varying_width) return 0;
  return table->graph().dependence_sets();
}

std::int64_t teff_inputs_of_timestep(const teff_workload* work, std::int32_t graph, std::int64_t timestep,
                                     std::int64_t* starts, std::int64_t* inputs, std::int64_t capacity) {
  const dependence_table* table = work->table(graph);
  const interval points = table == nullptr ? interval{} : table->points(timestep);
  std::int64_t count = 0;
  *starts = 0;
  for (std::int64_t point = points.first; point <= points.last; ++point) {
    const std::int64_t room = std::max<std::int64_t>(capacity - count, 0);
    count += write(table->inputs(timestep, point), room == 0 ? inputs : inputs + count, room);
    *++starts = count;
  }
  return count;
}

void teff_start(teff_workload* work) {
  work->load().start();
}

void teff_stop(teff_workload* work) {
  work->load().stop();
}

std::int32_t teff_execute(teff_workload* work, std::int32_t graph, std::int64_t timestep, std::int64_t point,
                          std::int32_t worker, void* output, std::size_t output_size,
                          const void* const* inputs, const std::size_t* input_sizes,
                          std::int64_t input_count) {
  std::int32_t result = -1;
  noted_in(*work, [&] {
    if (work->table(graph) == nullptr)
      throw usage_error(fmt::format("graph {}: there is no such graph", graph));
    check_worker(*work, worker);
    std::vector<input>& spans = work->spans[static_cast<std::size_t>(worker)];
    spans.clear();
    for (std::int64_t i = 0; i < input_count; ++i)
      spans.emplace_back(static_cast<const std::byte*>(inputs[i]), input_sizes[i]);
    work->load().worker(worker).execute(static_cast<std::size_t>(graph), timestep, point,
                                        {static_cast<std::byte*>(output), output_size}, spans);
    result = 0;
  });
  return result;
}

std::int32_t teff_keep_outputs(teff_workload* work) {
  std::int32_t result = -1;
  noted_in(*work, [&] {
    work->kept = keep_outputs(work->load(), 2);
    result = 0;
  });
  return result;
}

std::int32_t teff_execute_kept(teff_workload* work, std::int32_t graph, std::int64_t timestep,
                               std::int64_t point, std::int32_t worker) {
  std::int32_t result = -1;
  noted_in(*work, [&] {
    const auto index = static_cast<std::size_t>(graph);
    check_worker(*work, worker);
    if (table_with(*work, graph, timestep, point) == nullptr || index >= work->kept.size())
      throw usage_error(
          fmt::format("graph {} timestep {} point {}: there is no such task, or its outputs are "
                      "not kept",
                      graph, timestep, point));
    execute(work->load(), work->kept[index], index, timestep, point, worker);
    result = 0;
  });
  return result;
}

void teff_fail(teff_workload* work, const char* reason) {
  noted_in(*work, [&] { work->fail(text_or_nothing(reason)); });
}

void teff_take_outcome(const teff_workload* work, teff_outcome* outcome) {
  constexpr std::string_view short_of_memory = "no memory for what went wrong";
  *outcome = {};
  const bool fine = guarded(false, [&] { return *outcome = to_c(work->take_outcome()), true; });
  if (!fine) short_of_memory.copy(outcome->error, sizeof(outcome->error) - 1);
}

const char* teff_record(teff_workload* work, const teff_identity* who, const teff_outcome* outcomes,
                        std::int32_t count) {
  return guarded<const char*>(nullptr, [&] {
    work->record = to_json(validated(*work, from_c(*who), outcomes, count));
    return work->record.c_str();
  });
}

const char* teff_identity_json(const teff_identity* who) {
  return guarded<const char*>(nullptr, [&] {
    thread_local std::string text;
    text = identity_json(from_c(*who), task_graph_benchmark().further_identity());
    return text.c_str();
  });
}

teff_session* teff_session_open(std::int32_t count, const char* const* flags) {
  return guarded<teff_session*>(nullptr, [&] {
    const teff::bench::flags words(flags, flags + count);
    auto opened = std::make_unique<teff_session>();
    opened->asked = read_request(words);
    check(opened->kind, opened->asked);
    opened->over = answered_without_system(opened->kind, opened->asked);
    return opened.release();
  });
}

std::int32_t teff_session_workers(const teff_session* session) {
  return session->asked.workers.value_or(usable_cores());
}

void teff_session_identify(teff_session* session, const teff_identity* who) {
  guarded(0, [&] {
    session->who = from_c(*who);
    if (session->program) return 0;
    session->program.emplace(session->kind, session->asked, session->who, true,
                             [](std::string& line) { return bool(std::getline(std::cin, line)); });
    return 0;
  });
}

teff_workload* teff_session_next(teff_session* session, std::int32_t workers) {
  return guarded<teff_workload*>(nullptr, [&]() -> teff_workload* {
    session->now.reset();
    if (session->over) return nullptr;
    if (!session->program)
      throw usage_error("teff_session_identify has to be called before teff_session_next");
    while (const std::optional<teff::bench::flags> next = session->program->next()) {
      try {
        return &session->now.emplace(parse_configuration(*next), workers);
      } catch (const std::exception& failure) {
        session->program->refuse(reason_of(failure));
      }
    }
    return nullptr;
  });
}

void teff_session_answer(teff_session* session, teff_workload* work, const teff_outcome* outcomes,
                         std::int32_t count) {
  const bool said = guarded(false, [&] {
    session->program->answer(to_answer(validated(*work, session->who, outcomes, count)));
    return true;
  });
  if (!said) guarded(0, [&] { return session->program->refuse(last_error()), 0; });
}

std::int32_t teff_session_close(teff_session* session) {
  const std::int32_t unasked = session->over ? done : failed;
  const std::int32_t code = session->program ? session->program->code() : unasked;
  delete session;
  return code;
}

std::int32_t teff_usable_cores() {
  return usable_cores();
}

void teff_bind_to_core(std::int32_t index) {
  bind_to_core(index);
}
