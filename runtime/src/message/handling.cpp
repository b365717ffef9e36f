// Runs a communicator's handlers.
#include <teff/detail/scheduler/frame.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/error.hpp>
#include "message/communicator_core.hpp"

#include "platform/ticks.hpp"
#include "trace/trace.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace teff::detail {

namespace {

// After so many handlers a worker looks for other work.
constexpr int handlers_a_run = 64;

}  // namespace

bool communicator_core::in_handler() const noexcept {
  const frame* at = self.frame;
  while (at != nullptr && at->of != this) at = at->outer;
  return at != nullptr;
}

// Counts handled messages for a worker that runs handlers one after the other. To count each alone would cost
// more than many a handler, so the worker counts several messages of one rank at once. But a handler may take
// long, and senders on the other rank wait for room until this rank acknowledges what it has handled. So a
// worker leaves a quarter of the window uncounted at most, beside the half that may be unacknowledged, and
// only one worker at a time leaves any.
class communicator_core::handler_run {
 public:
  explicit handler_run(communicator_core& core) noexcept
      : core_(core),
        most_(core.workers_handling_.fetch_add(1, std::memory_order_relaxed) == 0 ? core.window_ / 4 : 0) {}
  ~handler_run() {
    count();
    core_.workers_handling_.fetch_sub(1, std::memory_order_relaxed);
  }

  void handle(const arrived_batch& batch, std::size_t at) noexcept {
    if (batch.from() != from_) count();
    core_.handle_one(batch.bytes(), at);
    from_ = batch.from();
    ++messages_;
    bytes_ += record_bytes(record_at(batch.bytes(), at).size);
    if (bytes_ > most_) count();
  }

 private:
  void count() noexcept {
    if (messages_ != 0) core_.count_handled(from_, std::exchange(messages_, 0), std::exchange(bytes_, 0));
  }
  communicator_core& core_;
  const within handler_{&core_};
  const std::uint64_t most_;
  int from_ = -1;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
};

bool communicator_core::work() noexcept {
  std::optional<channel::arrival> lone;
  bool any = progress(&lone);
  if (lone) {
    {
      const within handler(this);
      handle_one(lone->bytes, sizeof(packet_header));
    }
    count_handled(lone->from, 1, lone->bytes.size() - sizeof(packet_header));
    attention_.store(true, std::memory_order_seq_cst);  // as in handle()
    any = true;
  }
  return handle() || any;
}

bool communicator_core::handle() noexcept {
  if (arrived_.empty() && !ordered_.waiting()) return false;
  int handled = 0;
  {
    handler_run counted(*this);
    const auto handle_each = [&](const arrived_batch& batch, std::size_t at) { counted.handle(batch, at); };
    handled = arrived_.take(handlers_a_run, handle_each);
    if (handled != handlers_a_run && ordered_.begin()) {
      handled += ordered_.take(handlers_a_run - handled, handle_each);
      ordered_.end();
    }
  }
  if (handled == 0) return false;
  attention_.store(true, std::memory_order_seq_cst);  // as look_again(); this worker looks next
  return true;
}

void communicator_core::handle_one(const packet& bytes, std::size_t at) noexcept {
  try {
    const auto head = record_at(bytes, at);
    const auto marks = marks_.load(std::memory_order_relaxed) & (cancelled_mark | watched_mark);
    if (marks != 0 || head.traced != 0 || head.message >= messages_.size()) [[unlikely]]
      return handle_unusual(bytes, at);
    messages_[head.message].handle(arguments_at(bytes, at));
  } catch (...) {
    fail(std::current_exception());
  }
}

// For steps of large messages, traced messages, and any message while the watchdog may ask which handlers
// run. After the epoch was cancelled, the worker still refuses offers and takes data under way, so that no
// rank keeps using them. It drops other messages.
[[gnu::cold, gnu::noinline]] void communicator_core::handle_unusual(const packet& bytes, std::size_t at) {
  const auto head = record_at(bytes, at);
  auto arguments = arguments_at(bytes, at);
  struct counted {
    explicit counted(std::atomic<unsigned>& in) noexcept : running(in) {
      running.fetch_add(1, std::memory_order_relaxed);
    }
    ~counted() { running.fetch_sub(1, std::memory_order_relaxed); }
    std::atomic<unsigned>& running;
  } const runs(running_[std::min<std::size_t>(head.message, messages_.size())]);
  if (is_block_step(head.message)) return large_.take_step(static_cast<block_step>(head.message), arguments);
  std::uint64_t traced = 0;
  const auto behind = head.traced != 0 ? sizeof traced : 0;
  if (head.message >= messages_.size() || arguments.size() < behind)
    throw malformed_message("teff::communicator: a message that was not registered");
  const auto& message = messages_[head.message];
  if (cancelled() && !message.large) return;
  arguments = arguments.first(arguments.size() - behind);
  if (auto* const ring = ring_here(); ring != nullptr && behind != 0) {
    std::memcpy(&traced, arguments.data() + arguments.size(), behind);
    const auto now = ticks::now();
    ring->add({.began = now,
               .ended = now,
               .message = traced,
               .other = static_cast<std::uint32_t>(trace_ring::sender_of(traced)),
               .what = event_kind::arrival});
  }
  // The handler of any other message records its span itself.
  if (!message.large) return message.handle(arguments);
  const traced_span span(event_kind::handler, "large message comes");
  message.handle(arguments);
}

void communicator_core::count_handled(int from, std::uint64_t messages, std::uint64_t bytes) noexcept {
  auto& there = peers_.at(from);
  const auto handled = there.handled_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (handled - there.told_bytes.load(std::memory_order_relaxed) >= window_ / 2)
    send_control(from, packet_kind::acknowledges);
  // Release: the effects of the handlers; pairs with is_passive().
  handled_.fetch_add(messages, std::memory_order_release);
}

}  // namespace teff::detail
