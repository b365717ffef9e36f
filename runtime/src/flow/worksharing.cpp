// A worksharing task: the workers that are free claim its chunks, and one of them ends it.
#include <teff/detail/flow/flow_loop.hpp>

#include "flow/flow_core.hpp"

#include <algorithm>
#include <utility>

namespace teff::detail {

flow_loop::flow_loop(part* of_workers, unsigned workers, teff::range all, std::size_t least_chunk) noexcept
    : shared_loop<>(of_workers, workers), runnable(runnable_kind::offer), whole(all) {
  constexpr std::uint64_t most_units = std::uint64_t{1} << 31;
  const std::uint64_t size = all.size();
  unit = std::max<std::uint64_t>({least_chunk, (size + most_units - 1) / most_units, 1});
  units = static_cast<std::uint32_t>(size / unit + (size % unit != 0));
}

// ---- Live ----

// The body of the task has been called on this worker.
void flow_core::run_loop(flow_worker& caller, flow_task& task) {
  flow_loop& loop = *task.body->loop(task);
  note_run(caller, task);
  loop.begin(loop.units);
  if (trace_ring* const ring = ring_here(); ring != nullptr) [[unlikely]]
    record_spawn(*ring);
  const auto done = run_chunks(caller, loop);
  count_ran(caller, task);
  static_cast<void>(loop.end(done));  // never the last: end_body() is
}

// Also of a flow that has failed: the chunks that are left end without their bodies.
void flow_core::accept(flow_worker& caller, runnable& offer) noexcept {
  auto& loop = static_cast<flow_loop&>(offer);
  flow_task& of = *loop.task;
  loop.take_offer();
  running_task mine{&of};
  auto* const outer = std::exchange(caller.running, &mine);
  const auto done = run_chunks(caller, loop);
  caller.running = outer;
  // A handle that one of these chunks made holds the task's end: the release counts down what is kept back.
  const bool held = mine.held != nullptr && !this->ends_with_body(caller, *mine.held);
  if (done != 0 && loop.end(done - (held ? 1 : 0))) end_now(caller, of);
  drop_reference(of, caller.pool);
}

// Runs chunks until none is left to claim, or another program is due to have the core. Returns how many units
// have ended.
std::uint64_t flow_core::run_chunks(flow_worker& caller, flow_loop& loop) noexcept {
  const bool alone = loop.workers() == 1;
  const traced_span span(event_kind::task, loop.name);
  loop_pace<> pace(*loop.pace, 0, alone);
  std::uint64_t done = 0;
  for (bool stays = true; stays;) {
    if (!alone) offer_share(caller, loop, pace);
    const auto some = loop.claim(
        caller.index, [&](std::uint32_t rest) { return this->cancelled() ? rest : pace.chunk(rest, done); });
    if (some.count() == 0) break;
    if (!this->cancelled())
      catch_all([&] { loop.chunk(loop.task->closure, loop.iterations(some), caller.index); },
                [this] { this->fail(std::current_exception()); });
    done += some.count();
    pace.look(some.count());
    if (self.asked()) look_outside();  // a request waits
    stays = alone || !this_core.is_time_to_give_way() || !offer(caller, loop);
  }
  pace.tell(*loop.pace);
  return done;
}

// Offers other workers to join, if the iterations that are left are worth it.
void flow_core::offer_share(flow_worker& caller, flow_loop& loop, const loop_pace<>& pace) noexcept {
  if (loop.is_offered() || !pace.is_measured()) return;
  const auto rest = loop.rest();
  if (!pace.pays(rest)) return;
  if (!loop.pays.load(std::memory_order_relaxed)) loop.pays.store(true, std::memory_order_relaxed);
  if (!pace.pays_a_wake(rest) && !shares_without_wake()) return;
  pace.tell(*loop.pace);  // to those that join
  static_cast<void>(offer(caller, loop));
}

// Whether an offer is queued. The caller takes part.
bool flow_core::offer(flow_worker& caller, flow_loop& loop) noexcept {
  if (!loop.begin_offer()) return true;
  loop.task->references.fetch_add(1, std::memory_order_relaxed);  // the offer's
  loop.priority = loop.task->priority;
  bool queued = false;
  catch_all([&] { this->share(caller, &loop), queued = true; },
            [&] {
              loop.task->references.fetch_sub(1, std::memory_order_relaxed);
              loop.take_offer();
            });
  return queued;
}

// ---- Replayed ----

// All workers run this, each when what the task waits for has ended there. No worker is in the loop's run
// before.
void flow_core::replay_loop(unsigned worker, flow_task& task, condition failed) {
  flow_loop& loop = *task.body->loop(task);
  const traced_span span(event_kind::task, loop.name);
  loop.set(worker, loop.share_of(worker, loop.units));
  loop_pace<> pace(*loop.pace);
  for (std::uint64_t done = 0; !failed();) {
    const auto some = loop.claim(worker, [&](std::uint32_t rest) { return pace.chunk(rest, done); });
    if (some.count() == 0) break;
    loop.chunk(task.closure, loop.iterations(some), worker);
    done += some.count();
    pace.look(some.count());
  }
  pace.tell(*loop.pace);
  if (task.body->reduction == nullptr || !loop.end(1)) return;
  loop.expect(loop.workers());  // of the next iteration, which waits for this worker
  combine_all(task);
}

}  // namespace teff::detail
