#include "message/communicator_core.hpp"
#include <teff/detail/exceptions.hpp>
#include <teff/error.hpp>
#include <teff/runtime.hpp>

#include "platform/digest.hpp"
#include "platform/error_text.hpp"
#include "platform/watchdog.hpp"
#include "trace/trace.hpp"

#include <cstring>
#include <utility>

namespace teff::detail {

namespace {

// Folded to the size that it has in a packet's header.
std::uint32_t short_digest_of(const std::string& words) noexcept {
  const auto digest = digest_of(words);
  return static_cast<std::uint32_t>(digest ^ (digest >> 32));
}

// Opens or closes a channel: calls use(), in which ranks may wait for each other, and a watchdog says so. One
// rank alone waits for none. Throws what use() throws, invalid_option.
template <class Use>
auto watched(const std::string& whose, int rank, int ranks, const std::function<std::string()>& wait,
             Use use) {
  std::optional<watchdog> observes;
  if (ranks != 1)
    observes.emplace([&] { return whose + ", rank " + std::to_string(rank) + ": its " + wait(); },
                     watchdog::where_nothing_runs);
  return use();
}

}  // namespace

communicator_core::communicator_core(transport& through, message_host& host, std::size_t window, int patience)
    : host_(host),
      rank_(through.rank()),
      ranks_(through.ranks()),
      window_(window),
      patience_(through.ranks() > 1 ? patience : 0),
      channel_(watched(
          host.name(), through.rank(), through.ranks(),
          [&] { return "making waits for " + through.awaited(); }, [&] { return through.open(); })),
      words_("libteff " + std::string(version()) + ", packets 3\n"),
      digest_(short_digest_of(words_)),
      own_marks_((host.traced() != nullptr ? traced_mark : 0) | (watchdog::is_on() ? watched_mark : 0)),
      completion_(through.rank(), through.ranks()),
      large_(*this) {
  running_.emplace_back(0U);
  channel_->on_arrival([this] { host_.work_came(); });
}

communicator_core::~communicator_core() {
  channel_->on_arrival(nullptr);
  const auto close = [this] { channel_.reset(); };
  // If no thread can be made, or the environment has changed, the channel closes unwatched.
  catch_all([&] { watched(host_.name(), rank_, ranks(), [] { return "end waits for other ranks"; }, close); },
            close);
}

// ---- Messages that are sent ----

std::uint32_t communicator_core::add(registered_message added) {
  if (!ended()) throw misuse("teff::communicator::on: called while run() is in progress");
  const auto number = messages_.size();
  if (number == most_messages) throw misuse("teff::communicator::on: too many messages");
  words_ +=
      std::to_string(number) + ": (" + added.arguments + ")" + (added.ordered ? ", ordered" : "") + "\n";
  if (added.large) {
    added.handle = [this, functions = added.large.get()](std::span<const std::byte> bytes) {
      large_.take_offer(*functions, bytes);
    };
  }
  digest_ = short_digest_of(words_);
  words_changed_ = true;
  messages_.push_back(std::move(added));
  running_.emplace_back(0U);
  return static_cast<std::uint32_t>(number);
}

// ---- Epochs ----

void communicator_core::begin() {
  const std::lock_guard lock(progress_);
  if (!ended()) throw misuse("teff::communicator::run: called while another call of it is in progress");
  {
    const std::lock_guard failing(failing_);
    own_failure_ = nullptr;
    first_failure_.reset();
  }
  marks_.store(own_marks_, std::memory_order_relaxed);
  in_body_.store(true, std::memory_order_relaxed);
  epoch_.store(stamp_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  completion_.begin();
  peers_.each([](int, peer& each) { each.counted = 0; });
  ended_.store(false, std::memory_order_seq_cst);
  if (!completion_.tree().is_root()) {
    const auto& words = std::exchange(words_changed_, false) ? words_ : std::string();
    send_control(completion_.tree().parent(), packet_kind::hello, bytes_of_words(words));
  }
  ask_for_clock(true);
  for (auto& each : std::exchange(early_, {})) receive(each.from, each.bytes);
  look_again();
}

void communicator_core::body_ended(std::exception_ptr thrown) {
  if (thrown) fail(std::move(thrown));
  ask_for_clock(true);
  in_body_.store(false, std::memory_order_seq_cst);
  look_again();
}

void communicator_core::end_hold() noexcept {
  if (holds_.fetch_sub(1, std::memory_order_seq_cst) == 1) look_again();
}

// Holds the epoch until the answer has come, so that rank 0 is there to give it.
void communicator_core::ask_for_clock(bool begins) {
  auto* const trace = host_.traced();
  const auto question = trace == nullptr ? std::string() : trace->clock_question(begins);
  if (question.empty()) return;
  hold();
  send_control(0, packet_kind::clock_question, bytes_of_words(question));
}

void communicator_core::look_again() noexcept {
  // seq_cst: after the caller's change, before work_came() looks for sleepers. Pairs with has_progress() in a
  // worker's last look, and with progress(), which clears it.
  attention_.store(true, std::memory_order_seq_cst);
  host_.work_came();
}

std::exception_ptr communicator_core::take_failure() {
  const std::lock_guard lock(failing_);
  if (!first_failure_) return nullptr;
  if (first_failure_->rank == rank_) return own_failure_;
  return std::make_exception_ptr(
      rank_failed("teff: rank " + std::to_string(first_failure_->rank) + ": " + first_failure_->words,
                  first_failure_->rank));
}

void communicator_core::fail(std::exception_ptr why, const std::string& where) noexcept {
  try {
    {
      const std::lock_guard lock(failing_);
      if (own_failure_) return;
      own_failure_ = why;
    }
    std::string body(sizeof rank_, '\0');
    std::memcpy(body.data(), &rank_, sizeof rank_);
    body += where + words_of(why);
    spread_failure(completion_.tree().is_root(), bytes_of_words(body));
  } catch (...) {
    std::terminate();  // no memory for the words of a failure
  }
}

// A failure comes from this rank or from another one. The root chooses the first that it knows of, and tells
// it to all ranks. Any other rank passes a failure to the root.
void communicator_core::spread_failure(bool chosen, std::span<const std::byte> body) {
  if (chosen) {
    failure heard{read_as<int>(body), words_in(body.subspan(sizeof(int)))};
    const std::lock_guard lock(failing_);
    if (first_failure_) return;
    first_failure_ = std::move(heard);
  }
  marks_.fetch_or(cancelled_mark, std::memory_order_relaxed);
  if (chosen) {
    tell_children(packet_kind::abort, body);
  } else {
    send_control(completion_.tree().parent(), packet_kind::fail, body);
  }
  host_.state_changed();
}

// The caller holds progress_, so no message comes meanwhile.
bool communicator_core::is_passive() noexcept {
  if (in_body_.load(std::memory_order_seq_cst) || is_held()) return false;
  // Acquire: pairs with count_handled(); the effects of all handlers are seen.
  if (handled_.load(std::memory_order_acquire) != received_) return false;
  return host_.at_rest();
}

// The step *passive* of completion.md. The caller holds progress_.
bool communicator_core::give_counts() {
  if (ended() || !completion_.awaits_own()) return false;
  if (!is_passive()) {
    quiet_looks_ = 0;
    return false;
  }
  if (++quiet_looks_ <= patience_) {
    attention_.store(true, std::memory_order_seq_cst);
    return false;
  }
  quiet_looks_ = 0;
  const auto epoch = epoch_.load(std::memory_order_relaxed);
  stamp_.store(epoch + 1, std::memory_order_seq_cst);
  completion_counts own{0, received_, host_.left()};
  peers_.each([&](int, peer& each) {
    const std::lock_guard lock(each.mutex);
    own.sent += each.sent[epoch % 2];
  });
  // A thread of no activity has begun to hold. Messages that it sent under the seal belong to the next epoch.
  if (is_held()) {
    stamp_.store(epoch, std::memory_order_relaxed);
    return false;
  }
  const auto next = completion_.passive(own);
  if (next == completion::action::ask) {
    tell_children(packet_kind::ask);
    // A root without children gives its counts again after it has received its own messages.
    if (completion_.awaits_own()) attention_.store(true, std::memory_order_seq_cst);
    return true;
  }
  const auto sums = completion_.sums();
  const auto body = std::as_bytes(std::span(&sums, 1));
  if (next == completion::action::report) {
    send_control(completion_.tree().parent(), packet_kind::report, body);
  } else {
    tell_children(packet_kind::end, body);
    end_epoch(sums);
  }
  return true;
}

void communicator_core::end_epoch(const completion_counts& totals) noexcept {
  const auto epoch = epoch_.load(std::memory_order_relaxed);
  peers_.each([&](int, peer& each) {
    const std::lock_guard lock(each.mutex);
    each.sent_before += std::exchange(each.sent[epoch % 2], 0);
  });
  received_ = 0;
  handled_before_.fetch_add(handled_.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
  totals_ = totals;
  // seq_cst: before state_changed() looks for waiters; pairs with their last look at ended().
  ended_.store(true, std::memory_order_seq_cst);
  host_.state_changed();
}

message_counters communicator_core::counters() {
  message_counters all;
  peers_.each([&](int to, peer& each) {
    auto& path = to == rank_ ? all.own : channel_->is_near(to) ? all.near : all.far;
    message_counts sent;
    {
      const std::lock_guard lock(each.mutex);
      sent.sent = each.sent_before + each.sent[0] + each.sent[1];
      sent.bytes = each.sent_bytes.load(std::memory_order_relaxed);
      sent.packets = each.packets_sent;
      sent.large = each.large;
      sent.large_bytes = each.large_bytes;
    }
    path += sent;
    all += sent;
  });
  all.waits = waits_.load(std::memory_order_relaxed);
  all.handled = handled_before_.load(std::memory_order_relaxed) + handled_.load(std::memory_order_relaxed);
  return all;
}

std::string communicator_core::state() {
  const std::lock_guard lock(progress_);
  const auto epoch = epoch_.load(std::memory_order_relaxed);
  std::uint64_t sent = 0;
  std::string text;
  peers_.each([&](int rank, peer& each) {
    const std::lock_guard sending(each.mutex);
    sent += each.sent[epoch % 2];
    if (!has_room(each)) text += ", waits for room to send to rank " + std::to_string(rank);
  });
  text = std::to_string(sent) + " messages sent, " + std::to_string(received_) + " have come, " +
         std::to_string(handled_.load(std::memory_order_relaxed)) + " handled" + text;
  if (in_body_.load(std::memory_order_relaxed)) text += ", the body has not returned";
  const auto running = running_handlers();
  text += running;
  if (const auto holds = holds_.load(std::memory_order_relaxed); holds != 0)
    text += ", held by " + std::to_string(holds);
  completion_.tree().each_child([&](int child) {
    const auto& below = peers_.at(child);
    if (below.counted == completion_.wave()) return;
    text += ", waits for rank " + std::to_string(child) +
            (below.begun == epoch ? " and those below it" : ", which has not begun");
  });
  // After the rank gave its counts, messages may have come: then the epoch waits for its handlers first.
  if (completion_.own_given() && running.empty())
    text += ", waits for rank " + std::to_string(completion_.tree().parent());
  return "rank " + std::to_string(rank_) + ", epoch " + std::to_string(epoch) + ": " + text;
}

std::string communicator_core::running_handlers() const {
  std::string text;
  for (std::size_t message = 0; message < running_.size(); ++message) {
    const auto count = running_[message].load(std::memory_order_relaxed);
    if (count == 0) continue;
    text += ", " + (count == 1 ? "a handler" : std::to_string(count) + " handlers") + " of " +
            (message == messages_.size()
                 ? "large data that have moved"
                 : "message " + std::to_string(message) + " (" + messages_[message].arguments + ")") +
            (count == 1 ? " runs" : " run");
  }
  return text;
}

bool communicator_core::sees_work() const noexcept {
  return has_progress() || !arrived_.empty() || ordered_.waiting();
}

bool communicator_core::has_progress() const noexcept {
  // seq_cst, all: after the worker has announced that it sleeps; pair with look_again(), put_record() and the
  // send() of other ranks.
  return attention_.load(std::memory_order_seq_cst) || gathers_.load(std::memory_order_seq_cst) ||
         channel_->has_arrivals();
}

}  // namespace teff::detail
