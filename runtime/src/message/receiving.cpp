// Receives the packets of a communicator.
#include <teff/error.hpp>
#include "message/communicator_core.hpp"

#include "trace/trace.hpp"

#include <utility>

namespace teff::detail {

namespace {

// After so many packets a worker looks for other work.
constexpr int packets_a_look = 16;

// The first line in which two lists of messages differ.
std::string difference(const std::string& ours, const std::string& theirs) {
  for (std::size_t in_ours = 0, in_theirs = 0;;) {
    const auto line = [](const std::string& words, std::size_t& at) {
      if (at >= words.size()) return std::string("nothing more");
      const auto end = words.find('\n', at);
      auto one = words.substr(at, end - at);
      at = end + 1;
      return one;
    };
    const auto mine = line(ours, in_ours);
    const auto other = line(theirs, in_theirs);
    if (mine != other || (in_ours >= ours.size() && in_theirs >= theirs.size()))
      return "\"" + mine + "\" here, \"" + other + "\" there";
  }
}

}  // namespace

bool communicator_core::progress(std::optional<channel::arrival>* lone) noexcept {
  // A look that finds nothing takes no lock, so that looks of waiting workers cost each other nothing.
  if (!has_progress() && !channel_->is_polled()) return false;
  const std::unique_lock lock(progress_, std::try_to_lock);
  if (!lock) return false;
  lone_ = lone;
  bool any = true;
  try {
    const bool received = receive_some();
    const bool sent = send_all_gathered();
    if (received) quiet_looks_ = 0;
    any = received || sent;
    // Otherwise the rank is active: the caller has a message to handle, and sets attention_ afterwards.
    if (lone == nullptr || !lone->has_value()) {
      // seq_cst: before the look whether this rank is passive; pairs with look_again().
      if (attention_.load(std::memory_order_seq_cst)) attention_.store(false, std::memory_order_seq_cst);
      any = give_counts() || any;
    }
  } catch (...) {
    fail(std::current_exception());
    // The look whether this rank is passive is still to be made.
    attention_.store(true, std::memory_order_seq_cst);
  }
  lone_ = nullptr;
  return any;
}

bool communicator_core::receive_some() {
  for (int i = 0; i < packets_a_look; ++i) {
    auto came = channel_->receive();
    if (!came) return i != 0;
    receive(came->from, came->bytes);
    if (lone_ == nullptr || !lone_->has_value()) continue;
    // The caller handles its message first. Another worker receives the packets behind it.
    if (channel_->has_arrivals()) host_.work_came();
    break;
  }
  return true;
}

// A packet that is refused fails the epoch. The packets behind it are received all the same, since the epoch
// cannot end without their counts and reports.
void communicator_core::receive(int from, packet& bytes) noexcept {
  try {
    const auto head = read_as<packet_header>(bytes.bytes());
    auto& there = peers_.at(from);
    // A control packet's header is made before its sender takes the lock. So a packet may report fewer bytes
    // than one that came before it.
    if (const auto known = there.acknowledged_bytes.load(std::memory_order_relaxed); head.handled > known) {
      // seq_cst: before state_changed() looks for waiters; pairs with has_room().
      there.acknowledged_bytes.store(head.handled, std::memory_order_seq_cst);
      if (there.sent_bytes.load(std::memory_order_relaxed) - known >= window_) host_.state_changed();
    }
    const auto epoch = epoch_.load(std::memory_order_relaxed);
    if (head.kind < packet_kind::acknowledges) {
      if (head.epoch < epoch) return;
      if (head.epoch > epoch) return early_.push_back({from, std::move(bytes)});
      if (head.kind == packet_kind::messages) return accept_messages(from, head, bytes);
    }
    accept_control(from, head.kind, bytes.bytes().subspan(sizeof(packet_header)));
  } catch (...) {
    fail(std::current_exception());
  }
}

void communicator_core::accept_messages(int from, const packet_header& head, packet& bytes) {
  received_ += head.records;
  const auto ordered = ordered_among(bytes, head.records);
  if (!ordered || head.digest != digest_) {
    count_handled(from, head.records, bytes.size() - sizeof(packet_header));
    // If the digests differ, the parent that compares the lists of messages fails the epoch (accept_hello()).
    if (head.digest == digest_)
      throw malformed_message("teff::communicator: a packet of messages was spoilt");
    return;
  }
  // Breaks the seal before a handler can send.
  stamp_.store(epoch_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  // The caller runs one handler itself. Another worker is woken if there are more.
  const bool more = !arrived_.empty() || ordered_.waiting();
  if (lone_ != nullptr && head.records == 1 && ordered == 0U) {
    lone_->emplace(channel::arrival{from, std::move(bytes)});
    if (more) host_.work_came();
    return;
  }
  const auto batch = std::make_shared<arrived_batch>(from, std::move(bytes));
  if (ordered != 0U) ordered_.put(batch);
  if (ordered != head.records) arrived_.put(batch);
  if (more || head.records > 1) host_.work_came();
}

void communicator_core::accept_hello(int from, std::span<const std::byte> body) {
  auto& there = peers_.at(from);
  auto& words = there.words;
  if (!body.empty()) words = words_in(body);
  there.begun = epoch_.load(std::memory_order_relaxed);
  if (words == words_) return;
  throw ranks_differ("teff::communicator: rank " + std::to_string(rank_) + " and rank " +
                     std::to_string(from) +
                     " have registered different messages: " + difference(words_, words));
}

void communicator_core::accept_control(int from, packet_kind kind, std::span<const std::byte> body) {
  auto* const trace = host_.traced();
  switch (kind) {
    case packet_kind::hello:
      return accept_hello(from, body);
    case packet_kind::report:
      peers_.at(from).counted = completion_.wave();
      return completion_.reported(read_as<completion_counts>(body));
    case packet_kind::ask:
      completion_.asked();
      return tell_children(packet_kind::ask);
    case packet_kind::end:
      tell_children(packet_kind::end, body);
      return end_epoch(read_as<completion_counts>(body));
    case packet_kind::fail:
      return spread_failure(completion_.tree().is_root(), body);
    case packet_kind::abort:
      return spread_failure(true, body);
    case packet_kind::note:
      // As for messages, breaks the seal before another note can be sent.
      stamp_.store(epoch_.load(std::memory_order_relaxed), std::memory_order_relaxed);
      ++received_;
      handled_.fetch_add(1, std::memory_order_relaxed);  // is_passive() is called under the same lock
      return take_note_(from, body);
    case packet_kind::acknowledges:
      return;
    case packet_kind::clock_question: {
      const auto answer = trace == nullptr ? std::string() : trace->clock_answer(words_in(body));
      return send_control(from, packet_kind::clock_answer, bytes_of_words(answer));
    }
    case packet_kind::clock_answer:
      if (trace != nullptr) trace->take_clock_answer(words_in(body));
      ask_for_clock(false);
      return end_hold();
    default:
      throw malformed_message("teff::communicator: a packet of no known kind");
  }
}

}  // namespace teff::detail
