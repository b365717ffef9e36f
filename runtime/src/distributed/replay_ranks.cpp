// A distributed replay while it runs (replay.md).
#include <teff/detail/distributed/replay_ranks.hpp>
#include <teff/detail/exceptions.hpp>
#include <teff/detail/message/rank_tree.hpp>
#include <teff/detail/platform/relax.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/error.hpp>

#include "distributed/replay_memory.hpp"
#include "message/completion.hpp"
#include "message/message_source.hpp"
#include "platform/asymmetric_fence.hpp"
#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace teff::detail {

replay_ranks::shared_bell& replay_ranks::bell_of(const std::byte* memory, std::size_t worker) noexcept {
  return *reinterpret_cast<shared_bell*>(
      const_cast<std::byte*>(memory + sizeof(shared_head) + worker * sizeof(shared_bell)));
}

// Has all workers of near ranks execute a fence; where that can't be, they do so by themselves.
void replay_ranks::fence_everywhere() const noexcept {
  if (fences_are_light_) {
    own_fence().everywhere();
  } else {
    asymmetric_fence::own_core();
  }
}

const asymmetric_fence& replay_ranks::own_fence() noexcept {
  static const asymmetric_fence registered(asymmetric_fence::reach::processes);
  return registered;
}

// Another rank's thread may call it as soon as that one has planned, while this one is still about to.
void replay_ranks::ring_own() noexcept {
  for (std::size_t worker = 0; worker < bells_; ++worker) bell_of(memory_.get(), worker).ring();
}

void replay_ranks::replay(std::uint64_t times, part_runner runner) {
  if (broken_) restart();
  const auto run_part = [&](std::size_t part) {
    runner(part);
    if (failed()) spread_failure();
  };
  broken_ = true;
  ++replays_;
  times_ = times;
  messages_.run([&] {
    // If the parts can't even begin, the parts of other ranks wait for them.
    undo_if_thrown(
        [&] {
          expect_same_times();
          if (times != 0) core_->replay(std::cref(run_part));
        },
        [&] { spread_failure(); });
  });
  broken_ = false;
  iterations_ += times;
}

// Tells the others how often this replay runs, and looks at what they have told. Of two ranks that share
// memory, the later one sees the other here. Any other rank is told by a message, which a free worker
// handles: the rank that runs fewest iterations never waits for others.
void replay_ranks::expect_same_times() {
  auto& own = at(transport_.rank()).head();
  own.times.store(times_, std::memory_order_relaxed);
  // seq_cst: before the looks at the others.
  own.replay.store(replays_, std::memory_order_seq_cst);
  for (const auto& [rank, each] : peers_) {
    if (!each->is_near) {
      tell_times_.send(rank, transport_.rank(), times_);
    } else if (each->head().replay.load(std::memory_order_seq_cst) == replays_) {
      // The load above has brought the times, too, which stay as long as this replay has not ended.
      expect_same_times_as(rank, each->head().times.load(std::memory_order_relaxed));
    }
  }
  // Ranks that exchange no outputs: along the tree, which joins all.
  const rank_tree tree(transport_.rank(), transport_.ranks());
  if (!tree.is_root() && !at(tree.parent()).is_peer)
    tell_times_.send(tree.parent(), transport_.rank(), times_);
}

void replay_ranks::expect_same_times_as(int rank, std::uint64_t times) const {
  if (times == times_) return;
  throw misuse("teff::distributed_replay::replay: rank " + std::to_string(transport_.rank()) + " is to run " +
               std::to_string(times_) + " iterations, and rank " + std::to_string(rank) + " " +
               std::to_string(times));
}

std::string replay_ranks::named(const rank_task& task) const {
  const auto place = "rank " + std::to_string(task.on.rank) + ", worker " + std::to_string(task.on.worker) +
                     ", place " + std::to_string(task.index);
  const auto name = name_of_ ? name_of_(task) : std::string();
  return name.empty() ? "a task (" + place + ")" : "task " + name + " (" + place + ")";
}

std::string replay_ranks::waits_in_words() const {
  std::string text;
  for (std::size_t i = 0; long_waits_ && i < parts_.size(); ++i) {
    const auto wait = long_waits_[i].wait.load(std::memory_order_acquire);
    if (wait == long_wait::none) continue;
    const auto& part = parts_[i];
    const auto step = std::ranges::upper_bound(part.steps, wait, {}, &rank_step::waits_end);
    text += ", in iteration " + std::to_string(long_waits_[i].iteration.load(std::memory_order_relaxed)) +
            " " +
            named({{transport_.rank(), part.worker}, static_cast<std::uint32_t>(step - part.steps.begin())}) +
            " waits for " + named(part.awaited[wait]);
  }
  return text;
}

// After a failure, which all ranks know of: as if nothing had run. Nobody writes into this rank's memory now,
// and nobody does before all ranks have been here.
void replay_ranks::restart() {
  iterations_ = 0;
  failure_spread_.store(false, std::memory_order_relaxed);
  failed_->store(0, std::memory_order_relaxed);
  const auto reset = [](const kept_slots& slots) {
    // A page that no thread has written takes no memory as long as no thread writes it.
    for (std::uint64_t i = 0; i <= slots.mask; ++i)
      if (slots.stamp(i).reached(1)) slots.stamp(i).reset();
  };
  for (const auto& part : parts_) {
    for (const auto& step : part.steps) reset(step.output);
  }
  for (const auto& [rank, each] : peers_) {
    if (!each->is_near) std::ranges::for_each(each->slots, reset);
  }
  messages_.run([] {});
}

// ---- Waiting ----

bool replay_ranks::wait_for(const rank_wait& wait, std::uint64_t iteration, std::size_t part) noexcept {
  const traced_span span(event_kind::waiting, nullptr);
  using clock = std::chrono::steady_clock;
  const auto done = [&] { return wait.reached(iteration) || failed(); };
  // At first without a thought of others, as long as a line takes from core to core, and some tasks more.
  // Then other threads can have the core: there may be more ranks than cores.
  constexpr unsigned looks_alone = 64;
  constexpr unsigned looks_between_clock_readings = 16;
  auto deadline = clock::time_point::max();
  for (unsigned look = 1; !done(); ++look) {
    if (has_far_ && core().progress()) continue;
    if (look < looks_alone) {
      relax();
      continue;
    }
    std::this_thread::yield();
    if (look % looks_between_clock_readings != 0) continue;
    const auto now = clock::now();
    if (look == looks_alone) deadline = now + workers().settings().spin;
    if (now < deadline) continue;
    sleep_until_told(wait, iteration, part);
    break;
  }
  return !failed();
}

void replay_ranks::sleep_until_told(const rank_wait& wait, std::uint64_t iteration,
                                    std::size_t part) noexcept {
  const auto done = [&] {
    while (has_far_ && core().progress()) {
    }
    // Acquire would do; it is read rarely.
    return wait.reached(iteration) || failed_->load(std::memory_order_seq_cst) != 0;
  };
  // No thread rings for a note that comes: the worker looks again and again, the more rarely the longer it
  // has waited.
  const auto nap = [most = std::chrono::microseconds(20)](const auto& word, std::uint32_t quiet) mutable {
    shared_futex::wait_at_most(word, quiet, most);
    most = std::min(2 * most, std::chrono::microseconds(1000));
  };
  const auto sleep = [&, this] {
    auto& own = bell_of(memory_.get(), parts_[part].worker);
    if (has_far_) {
      sleep_on(own, done, [] {}, nap);
    } else {
      sleep_on(own, done, [this] { fence_everywhere(); }, shared_futex::wait);
    }
  };
  auto& seen = long_waits_[part];
  seen.iteration.store(iteration, std::memory_order_relaxed);
  // Release: the iteration.
  seen.wait.store(static_cast<std::uint32_t>(&wait - parts_[part].waits.data()), std::memory_order_release);
  sleep_by(sleep);
  seen.wait.store(long_wait::none, std::memory_order_relaxed);
}

// ---- Telling ----

void replay_ranks::ended(const rank_step& own, std::uint64_t iteration) noexcept {
  const auto& tell = *own.tells;
  own.output.stamp(iteration).raise(iteration + 1);
  if (!tell.bells.empty()) {
    // Between the stamp and the looks at the bells; pairs with fence_everywhere() of a worker that is about
    // to sleep.
    if (fences_are_light_) {
      own_fence().light();
    } else {
      asymmetric_fence::own_core();
    }
    for (auto* const each : tell.bells) each->ring();
  }
  if (tell.far.empty()) return;
  try {
    for (const auto& each : tell.far)
      send(each.rank, each.entry, iteration,
           {own.output.at(iteration), each.with_output ? own.bytes : std::size_t{0}});
  } catch (...) {
    fail(std::current_exception(), "teff::distributed_replay: ");
  }
}

void replay_ranks::fail(std::exception_ptr why, const std::string& where) noexcept {
  core().fail(std::move(why), where);
  spread_failure();
}

// A worker that waits for this rank would wait for nothing. Each rank that is told tells the ranks that may
// wait for it.
void replay_ranks::spread_failure() noexcept {
  if (failure_spread_.exchange(true, std::memory_order_relaxed)) return;
  for (const auto& [rank, each] : peers_) {
    if (each->is_near) {
      each->head().failed.store(1, std::memory_order_release);
      asymmetric_fence::own_core();  // as in ended()
      for (std::size_t worker = 0; worker < each->workers(); ++worker)
        bell_of(each->memory.get(), worker).ring();
      continue;
    }
    try {
      send(rank, replay_note::failure, 0, {});
    } catch (...) {
      std::terminate();  // no memory for a few bytes, and others would wait for ever
    }
  }
}

// ---- Notes, between ranks that share no memory ----

void replay_ranks::send(int to, std::uint64_t entry, std::uint64_t iteration,
                        std::span<const std::byte> output) {
  const replay_note head{entry, iteration};
  core().send_note(to, std::as_bytes(std::span(&head, 1)), output);
}

// The slot is free: the worker that made the output waited for the readers of what lay there (replay.md).
void replay_ranks::take(int from, std::span<const std::byte> bytes) {
  const auto head = read_as<replay_note>(bytes);
  if (head.entry == replay_note::failure) return spread_failure();
  const auto output = bytes.subspan(sizeof head);
  const auto& slots = at(from).slots[head.entry];
  if (!output.empty()) std::memcpy(slots.at(head.iteration), output.data(), output.size());
  slots.stamp(head.iteration).raise(head.iteration + 1);
  asymmetric_fence::own_core();  // as in ended()
  ring_own();
}

}  // namespace teff::detail
