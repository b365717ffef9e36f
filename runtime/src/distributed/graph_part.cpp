#include <teff/detail/distributed/graph_part.hpp>
#include <teff/error.hpp>

#include "message/message_source.hpp"
#include "platform/watchdog.hpp"
#include "scheduler/blocked_activities.hpp"

#include <utility>

namespace teff::detail {

graph_part::graph_part(communicator& like, std::shared_ptr<task_source_base> tasks)
    : runtime_(like.workers()),
      rank_(like.rank()),
      ranks_(like.ranks()),
      tasks_(std::move(tasks)),
      messages_(std::make_shared<message_source>(runtime_, like.network(), like.window(), "distributed_graph",
                                                 static_cast<epoch_part*>(this))),
      marks_(&core().marks()) {
  tasks_->tell_of_rest(
      [](void* whom) noexcept {
        auto& me = *static_cast<graph_part*>(whom);
        // seq_cst: after the look at the accounts, against at_rest().
        if (me.awaits_rest_.exchange(false, std::memory_order_seq_cst)) me.core().look_again();
      },
      this);
  attach(private_access::internals(runtime_), tasks_);
  attach(private_access::internals(runtime_), messages_);
  published(private_access::internals(runtime_));  // it may ask to be polled, or listened to
}

graph_part::~graph_part() {
  messages_->leave("teff::distributed_graph", {}, begun_.load(std::memory_order_relaxed));
  detach(private_access::internals(runtime_), *messages_);
  tasks_->abandon_if_unfinished();
  detach(private_access::internals(runtime_), *tasks_);
}

communicator_core& graph_part::core() noexcept {
  return messages_->core();
}

message_counters graph_part::counters() {
  return core().counters();
}

void graph_part::fail(std::exception_ptr why, const std::string& where) noexcept {
  core().fail(std::move(why), where);
}

std::uint32_t graph_part::add(registered_message added) {
  const std::lock_guard lock(beginning_);
  if (begun_.load(std::memory_order_relaxed))
    throw misuse("teff::distributed_graph::on_large: called while keys are being fulfilled");
  return core().add(std::move(added));
}

bool graph_part::at_rest() noexcept {
  // seq_cst: before the look at the accounts. Of this and the worker that ends last, one sees the other.
  awaits_rest_.store(true, std::memory_order_seq_cst);
  if (!tasks_->at_rest()) return false;
  awaits_rest_.store(false, std::memory_order_relaxed);
  // Before the counts are given, so that the root knows of it when it could end the epoch.
  if (auto failure = tasks_->failure()) core().fail(std::move(failure));
  return true;
}

// Not on top of a task that waits: it could not go on before they have returned, and they may wait in turn.
void graph_part::follow_handlers() noexcept {
  if (self.frame->outer->of == nullptr) static_cast<void>(run_here(*tasks_));
}

std::string graph_part::state() const {
  return tasks_->at_rest() ? "no task runs, " + std::to_string(tasks_->tasks_left()) + " keys wait"
                           : "tasks run";
}

void graph_part::begin() {
  const std::lock_guard lock(beginning_);
  if (begun_.load(std::memory_order_relaxed)) return;
  core().begin();
  begun_.store(true, std::memory_order_release);
}

void graph_part::wait() {
  const blocked_activities for_tasks(static_cast<const source*>(tasks_.get()));
  const blocked_activities for_handlers(static_cast<const source*>(messages_.get()));
  if (for_tasks.for_ever() || for_handlers.for_ever())
    throw graph_waits_for_itself(
        "teff::distributed_graph::wait: called where it would wait for ever: within a task of the graph, or "
        "of one that it waits for, which waits for this very call");
  expect_begun();
  {
    const watchdog observes([this] { return messages_->state(); });
    // On a worker: a calling thread takes part.
    runtime_.run([this] {
      core().body_ended(nullptr);
      messages_->wait_for_end();
    });
  }
  auto failure = core().take_failure();
  const bool failed = failure != nullptr;
  auto left = what_is_left();
  begun_.store(false, std::memory_order_relaxed);
  if (failed) std::rethrow_exception(std::move(failure));
  if (left) std::rethrow_exception(std::move(left));
}

// Forgets the keys that wait on this rank. Says what waits on any.
std::exception_ptr graph_part::what_is_left() {
  const auto all = core().totals().left % leaver;
  std::string words;
  std::uint64_t own = 0;
  try {
    tasks_->wait();
  } catch (const never_satisfied& e) {
    words = e.what();
    own = e.count;
  } catch (...) {
    // It has failed the epoch.
  }
  if (all == 0) return nullptr;
  if (words.empty()) words = "teff::distributed_graph: no key waits here: other ranks name theirs";
  words += " (on rank " + std::to_string(rank_) + "; " + std::to_string(all - own) + " on other ranks)";
  return std::make_exception_ptr(never_satisfied(words, all));
}

}  // namespace teff::detail
