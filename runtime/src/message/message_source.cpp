#include "message/message_source.hpp"

#include "platform/watchdog.hpp"
#include "scheduler/blocked_activities.hpp"
#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

namespace teff::detail {

namespace {

// A fraction of a microsecond: a worker has not begun to count as a searcher by then (work_until()), so that
// its further looks cost others nothing.
constexpr int looks_before_counts = 7;

// Earlier than that of any source before, and later than any clock.
polled_source::poll_time next_time_that_never_comes() noexcept {
  static std::atomic<polled_source::poll_time::rep> made{0};
  return polled_source::poll_time::max() -
         polled_source::poll_time::duration(made.fetch_add(1, std::memory_order_relaxed) + 1);
}

}  // namespace

message_source::message_source(runtime& rt, transport& through, std::size_t window, std::string kind,
                               epoch_part* part)
    : runtime_(rt),
      part_(part),
      kind_(std::move(kind)),
      number_(private_access::count_next(through, kind_)),
      listens_until_(next_time_that_never_comes()),
      waiters_(private_access::internals(rt)),
      core_(through, *this, window, looks_before_counts) {
  if (auto* const trace = private_access::internals(rt).traced(); trace != nullptr)
    trace->belong_to(through.rank(), through.ranks());
  if (through.is_crowded(rt.workers())) private_access::internals(rt).share_cores();
}

// On all ranks, as never_satisfied of a graph.
incomplete_round message_source::error_of_rounds(std::uint64_t left) {
  std::string words;
  std::uint64_t own = 0;
  for (const auto& each : rounds_) {
    own += each->waiting(core_.epoch());
    if (auto some = each->waits_in_words(core_.epoch()); !some.empty())
      words += (words.empty() ? "" : "; ") + std::move(some);
  }
  if (words.empty()) words = "teff::communicator: no round waits here: other ranks say for whom theirs do";
  return {words + " (on rank " + std::to_string(core_.rank()) + "; " + std::to_string(left - own) +
              " on other ranks)",
          left};
}

void message_source::leave(const std::string& who, const std::function<void()>& failed, bool begun) noexcept {
  if (std::exchange(leaves_, true)) return;
  try {
    if (auto* const trace = traced()) trace->add_messages(kind_, core_.counters());
    if (core_.ranks() == 1) return;
    expect_own_process(private_access::internals(runtime_));
    const watchdog observes([this] { return state(); }, watchdog::where_nothing_runs);
    core_.ignore_holds();
    do {
      runtime_.run([&] {
        if (!std::exchange(begun, false)) core_.begin();
        core_.fail(std::make_exception_ptr(misuse(who + ": destroyed on this rank, while others use it")));
        if (failed) failed();
        core_.body_ended(nullptr);
        wait_for_end();
      });
    } while (core_.totals().left / leaver != static_cast<std::uint64_t>(core_.ranks()));
  } catch (...) {
    // There is no runtime any more, or run() is in progress, or no memory for the trace.
  }
}

std::string message_source::state() {
  return name() + ", " + core_.state() + (part_ == nullptr ? "" : ", " + part_->state()) +
         (more_ ? more_() : "") + (leaves_ ? ", it is being destroyed" : "");
}

bool message_source::run(unsigned /*worker*/) noexcept {
  if (!core_.work()) return false;
  if (part_ != nullptr) part_->follow_handlers();
  return true;
}

// A sleeper wakes to look the more rarely, the longer nothing has come: an idle rank uses next to nothing.
// Where packets ring a bell, one of the sleepers is to listen, for as long as it takes.
std::optional<polled_source::poll_time> message_source::next_poll() noexcept {
  if (!core_.line().is_polled()) return core_.line().rings() ? std::optional(listens_until_) : std::nullopt;
  constexpr poll_time::duration shortest = std::chrono::microseconds(20);
  constexpr poll_time::duration longest = std::chrono::milliseconds(1);
  // Relaxed: a guess.
  const poll_time::duration looked{looked_.load(std::memory_order_relaxed)};
  const poll_time::duration found{found_.load(std::memory_order_relaxed)};
  return poll_time(looked + std::clamp((looked - found) / 16, shortest, longest));
}

bool message_source::poll(unsigned /*worker*/) noexcept {
  const auto now = poll_time::clock::now().time_since_epoch().count();
  looked_.store(now, std::memory_order_relaxed);
  const bool found = core_.line().is_polled() && core_.progress();
  if (found) found_.store(now, std::memory_order_relaxed);
  return found;
}

std::uint64_t message_source::left() noexcept {
  std::uint64_t waiting = part_ == nullptr ? 0 : part_->left();
  for (const auto& each : rounds_) waiting += each->waiting(core_.epoch());
  return waiting + (leaves_ ? leaver : 0);
}

trace* message_source::traced() noexcept {
  return private_access::internals(runtime_).traced();
}

void message_source::state_changed() noexcept {
  if (waiters_.any()) waiters_.wake();
}

void message_source::wait_until(condition done) {
  if (!done()) waiters_.wait_until(done, *this);
}

// ---- For the templates of messages ----

std::uint32_t register_message(message_source& of, registered_message added) {
  return of.core().add(std::move(added));
}

void send_message(message_source& of, int to, std::uint32_t number, const outgoing_arguments& arguments) {
  while (!of.core_.try_send(to, number, arguments)) {
    if (of.core_.ended())
      throw misuse(
          "teff::communicator: messages sent outside of run() wait for the next one, and there is no "
          "room for more of them");
    of.wait_until([&of, to] { return of.core_.has_room(to); });
  }
}

void send_large_message(message_source& of, int to, std::uint32_t number, std::span<const std::byte> data,
                        std::function<void()> may_reuse, const outgoing_arguments& arguments) {
  of.core().large().offer(to, data, std::move(may_reuse), arguments,
                          [&](const outgoing_arguments& all) { send_message(of, to, number, all); });
}

void run_epoch(message_source& of, action body) {
  const watchdog observes([&of] { return of.state(); });
  // From here on, since the handlers that might wait for the caller begin within the epoch.
  const blocked_activities blocked(static_cast<const source*>(&of));
  if (blocked.for_ever())
    throw graph_waits_for_itself(
        "teff::communicator::run: called where it would wait for ever: by a handler of its own");
  of.runtime_.run([&] {
    of.core_.begin();
    std::exception_ptr thrown;
    try {
      body();
    } catch (...) {
      thrown = std::current_exception();
    }
    of.core_.body_ended(std::move(thrown));
    of.wait_for_end();
  });
  if (auto failure = of.core_.take_failure()) std::rethrow_exception(std::move(failure));
  // Nobody leaves in an epoch that does not fail.
  if (const auto left = of.core_.totals().left; left != 0) throw of.error_of_rounds(left);
}

std::uint64_t epoch_of(message_source& of) noexcept {
  return of.core().epoch();
}

void keep_rounds(message_source& by, std::shared_ptr<kept_rounds> rounds) {
  by.rounds_.push_back(std::move(rounds));
}

}  // namespace teff::detail
