// A fulfilment is counted, or sent to the worker that counts it; the last one makes its task ready
// (README.md).
#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/graph_core.hpp>
#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/release_observer.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/error.hpp>

#include <mutex>

namespace teff::detail {

// A key of the worker's own place, which it has left. If it can, it stays there until the body has ended. A
// task of another place sends the key, as it would from there: the worker calls received() when it is back.
void graph_core::count_own(graph_worker& here, const void* key) {
  if (was_taken(*here.running->task)) return send_to_inbox(here, here.index, key);
  if (enter(here)) return fulfill_within(here, key);
  send_to_inbox(here, here.index, key);
}

std::size_t graph_core::unplaced_keys() const noexcept {
  std::int64_t sum = 0;
  for (const auto& each : states_.all()) sum += each.unplaced.load(std::memory_order_relaxed);
  return sum < 0 ? 0 : static_cast<std::size_t>(sum);
}

// ---- From elsewhere, and to other places ----

unsigned graph_core::place_of(const void* key) {
  if (!functions.place) return any_worker;
  const unsigned place = functions.place(key);
  if (place != any_worker) expect_worker(key, place);
  return place;
}

void graph_core::send_to_inbox(graph_worker& here, unsigned place, const void* key) {
  auto& message = sent(here.pool, key);
  account(here.index).begin_one();
  give(message, place);
}

void graph_core::fulfill_from_elsewhere(const void* key) {
  functions.expect_complete("teff::task_graph::fulfill");
  expect_runtime("teff::task_graph::fulfill");
  if (self.frame->is_of(*this) && self.frame->observer != nullptr) {
    if (!passes_on(self.frame->observer, key)) return;
  } else if (being_observed.load(std::memory_order_relaxed)) {
    expect_own_process(runtime());
    throw not_replayable("teff::task_graph: the key " + text_of(key) +
                         " was fulfilled while the graph was recorded or replayed, but not by the "
                         "graph's body itself; a body that is given to replay() must not fulfil keys, "
                         "since the recording has the dependences");
  }
  const auto at = detail::this_worker();
  if (at.runtime == &runtime()) {
    auto& here = *states_[at.index];
    // Outside a task of this graph, the fulfilment is a further item. It ends when this worker next looks for
    // work here.
    if (here.running != nullptr) return fulfill_within(here, key);
    // It does not wait for its place: it may be in another worker's place of another graph.
    if (enter(here)) {
      struct exit {
        graph_core& graph;
        graph_worker& of;
        ~exit() { graph.leave(of); }
      } const exit{*this, here};
      account(at.index).begin_one();
      ++here.items_received;
      return fulfill_within(here, key);
    }
  }
  const call_in_progress call(runtime());
  const unsigned place = place_of(key);
  graph_node* message = nullptr;
  {
    const std::lock_guard lock(outside_);
    message = &sent(outside_pool_, key);
  }
  begin_outside();
  give(*message, place);
}

}  // namespace teff::detail
