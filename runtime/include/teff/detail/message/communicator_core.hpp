// What a communicator does that does not depend on the types of its messages, and knows no workers
// (src/message/README.md).
#pragma once

#include <teff/detail/message/arrived_messages.hpp>
#include <teff/detail/message/completion.hpp>
#include <teff/detail/message/large_messages.hpp>
#include <teff/detail/message/wire.hpp>
#include <teff/detail/scheduler/spin_lock.hpp>
#include <teff/message_counters.hpp>
#include <teff/transport.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace teff::detail {

// Who has the workers: the core tells it what happens.
class message_host {
 public:
  virtual ~message_host() = default;
  // There is something to do that any worker may do: progress(), or handle().
  virtual void work_came() noexcept = 0;
  // There is room again, or the epoch has ended: whoever waits is to look.
  virtual void state_changed() noexcept = 0;
  // Whether nothing goes on outside of handlers and the body that may send messages. Once true, it stays so
  // until a message is handled.
  [[nodiscard]] virtual bool at_rest() noexcept = 0;
  // What waits for messages that have not come; asked when the rank is passive.
  [[nodiscard]] virtual std::uint64_t left() noexcept = 0;
  // Whose messages these are, in words; asked by the core's constructor too.
  [[nodiscard]] virtual std::string name() const { return "communicator"; }

  // ---- For a trace of all ranks ----

  [[nodiscard]] virtual bool is_traced() noexcept { return false; }
  // What rank 0 is to be asked about its clock; empty: nothing. `begins`: an epoch begins or ends here; else
  // it has just answered.
  [[nodiscard]] virtual std::string clock_question(bool begins) {
    static_cast<void>(begins);
    return {};
  }
  [[nodiscard]] virtual std::string clock_answer(std::string_view question) {
    static_cast<void>(question);
    return {};
  }
  virtual void take_clock_answer(std::string_view answer) { static_cast<void>(answer); }
};

// A message that was registered.
struct registered_message {
  std::string arguments;  // their types
  bool ordered = false;
  // Takes the arguments out of the bytes, and calls the handler. Throws what that throws.
  std::function<void(std::span<const std::byte>)> handle;
  // Of a large message, instead of `handle`.
  std::shared_ptr<const large_functions> large = nullptr;
};

class communicator_core {
 public:
  // `window`: so many bytes of messages may be on their way to one rank before its senders wait. `patience`:
  // a rank that has become passive gives its counts after so many looks of progress() in vain. What it has
  // just sent is often answered, and a wave costs as much as a message.
  communicator_core(transport& through, message_host& host, std::size_t window, int patience = 0);
  ~communicator_core();
  communicator_core(const communicator_core&) = delete;
  communicator_core& operator=(const communicator_core&) = delete;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] std::size_t window() const noexcept { return window_; }
  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(peers_.size()); }

  // ---- Messages ----

  // Returns its number. Throws misuse within an epoch.
  std::uint32_t add(registered_message added);
  // Sends message `number`; fill(what, at) puts its arguments into so many bytes. False: there is no room
  // now, and the caller may wait until has_room(). Within a handler there is always room.
  [[nodiscard]] bool try_send(int to, std::uint32_t number, std::size_t size,
                              void (*fill)(const void* what, std::byte* at), const void* what);
  [[nodiscard]] bool has_room(int to) const noexcept;
  // Whether the calling thread is in a handler of this communicator.
  [[nodiscard]] bool in_handler() const noexcept;

  [[nodiscard]] large_messages& large() noexcept { return large_; }

  // ---- Epochs ----

  // The one that has begun last.
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_relaxed); }
  // A rank's part of an epoch begins. Throws misuse if one has begun and not ended.
  void begin();
  // Its body has returned, or thrown this.
  void body_ended(std::exception_ptr thrown);
  [[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_seq_cst); }
  // Of an epoch that has ended: what went wrong. The next may begin.
  [[nodiscard]] std::exception_ptr take_failure();
  // What is left on all ranks, of the epoch that ended last.
  [[nodiscard]] const completion_counts& totals() const noexcept { return totals_; }
  // As long as somebody holds, the epoch does not end.
  void hold() noexcept { holds_.fetch_add(1, std::memory_order_seq_cst); }
  void release() noexcept;
  // From now on nobody's hold keeps an epoch from ending: who holds goes on after the communicator's end.
  void leave() noexcept { leaves_.store(true, std::memory_order_relaxed); }
  // Something on this rank has failed. The epoch ends on all ranks as soon as it can; the others are told
  // `where`, and what the exception says.
  void fail(std::exception_ptr why, const std::string& where = {}) noexcept;
  [[nodiscard]] bool cancelled() const noexcept {
    return (marks_.load(std::memory_order_relaxed) & cancelled_mark) != 0;
  }

  // As communicator::counters(), but for what waits.
  [[nodiscard]] message_counters counters();
  // In words: what an epoch that goes on waits for on this rank.
  [[nodiscard]] std::string state();
  // The same: which handlers have begun and not returned. Known where TEFF_WATCHDOG was set.
  [[nodiscard]] std::string running_handlers() const;

  // ---- Work: called by workers ----

  // What follows, both. A message that has come alone is handled without being put anywhere.
  bool work() noexcept;
  // Receives packets, sends what has been gathered, looks whether the epoch has ended. Returns whether it did
  // anything. One thread does it at a time; another one returns at once.
  bool progress() noexcept { return progress(nullptr); }
  // Runs some handlers. Returns whether there were any.
  bool handle() noexcept;
  [[nodiscard]] bool sees_work() const noexcept;
  [[nodiscard]] bool is_polled() const noexcept { return channel_->is_polled(); }
  [[nodiscard]] bool rings() const noexcept { return channel_->rings(); }
  [[nodiscard]] std::optional<doorbell> listen(std::uint32_t sleeper) noexcept {
    return channel_->listen(sleeper);
  }
  void rise(std::uint32_t sleeper) noexcept { channel_->rise(sleeper); }
  // What was done outside may have made this rank passive.
  void look_again() noexcept;

 private:
  // One of the ranks.
  struct alignas(64) peer {
    spin_lock mutex;  // guards what follows
    packet gathered;  // its header is written when it leaves
    std::uint64_t gathered_epoch = 0;
    std::uint16_t gathered_records = 0;
    std::uint64_t sent[2] = {};            // messages, in epochs of even and odd numbers
    std::uint64_t sent_before = 0;         // in epochs that have ended
    std::uint64_t packets_sent = 0;        // of messages
    std::uint64_t before_last_packet = 0;  // of sent_bytes: what was sent before the last one of these

    // Bytes of messages, since the beginning. Written under the lock.
    std::atomic<std::uint64_t> sent_bytes{0};
    std::atomic<std::uint64_t> acknowledged_bytes{0};
    // The same from there to here.
    std::atomic<std::uint64_t> handled_bytes{0};
    std::atomic<std::uint64_t> told_bytes{0};
    // Of a child, under the lock progress_.
    std::string words;          // its messages, from its last hello
    std::uint64_t begun = 0;    // the epoch of that hello
    std::uint64_t counted = 0;  // the wave in which it has reported last
  };
  struct failure {
    int rank;
    std::string words;
  };

  [[nodiscard]] peer& at(int rank) noexcept { return peers_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool try_send_traced(int to, std::uint32_t number, std::size_t size,
                                     void (*fill)(const void* what, std::byte* at), const void* what);
  void put_record(int to, peer& there, const record_header& head,
                  void (*fill)(const void* what, std::byte* at), const void* what);
  void send_gathered(int to, peer& there);
  [[nodiscard]] bool leaves_at_once(int to, const peer& there, std::size_t added) const noexcept;
  void send_control(int to, packet_kind kind, std::span<const std::byte> body = {});
  void tell_children(packet_kind kind, std::span<const std::byte> body = {});
  bool send_all_gathered();
  [[nodiscard]] packet_header header(packet_kind kind, std::uint16_t records, std::uint64_t epoch,
                                     peer& to) noexcept;

  [[nodiscard]] bool has_progress() const noexcept;
  bool receive_some();
  void receive(int from, packet& bytes);
  void receive_or_fail(int from, packet& bytes) noexcept;
  void accept_messages(int from, const packet_header& header, packet& bytes);
  void accept_hello(int from, std::span<const std::byte> body);
  void accept_any_time(int from, packet_kind kind, std::span<const std::byte> body);
  void ask_for_clock(bool begins);
  void accept_control(int from, packet_kind kind, std::span<const std::byte> body);
  void tell_failure(const failure& first) noexcept;
  [[nodiscard]] bool is_held() const noexcept {
    return holds_.load(std::memory_order_seq_cst) != 0 && !leaves_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_passive() noexcept;
  bool give_counts();
  void end_epoch(const completion_counts& totals) noexcept;
  // `lone`: where the caller takes a packet of one message, which it handles at once.
  bool progress(std::optional<channel::arrival>* lone) noexcept;
  class handling_here;
  void handle_one(const packet& bytes, std::size_t at) noexcept;
  void handle_marked(const packet& bytes, std::size_t at) noexcept;
  void call_handler(const packet& bytes, std::size_t at) noexcept;
  void handle_unusual(const packet& bytes, std::size_t at);
  void handle_cancelled(const packet& bytes, std::size_t at) noexcept;

  // ---- For large messages ----
  friend class large_messages;
  // Within a handler.
  void send_step(int to, block_step step, const block_word& word);
  // The same as a packet that the channel returns when something has happened. It counts as sent by whoever
  // calls count_step().
  [[nodiscard]] packet step_packet(block_step step, const block_word& word) const;
  void count_step(int to);
  void count_handled(int from, std::uint64_t messages, std::uint64_t bytes) noexcept;

  message_host& host_;
  const int rank_;
  const std::size_t window_;
  const int patience_;
  std::vector<peer> peers_;
  std::unique_ptr<channel> channel_;

  std::vector<registered_message> messages_;
  // By message: handlers that have begun and not returned, if a watchdog may ask. The last: of large messages
  // that go on.
  std::deque<std::atomic<unsigned>> running_;
  std::string words_;  // all messages; changed outside of epochs only
  std::uint32_t digest_ = 0;
  bool words_changed_ = true;

  std::atomic<std::uint64_t> epoch_{0};  // that has begun last
  std::atomic<std::uint64_t> stamp_{1};  // of messages sent now: above epoch_ where this rank is sealed
  std::atomic<bool> ended_{true};
  std::atomic<bool> in_body_{false};
  std::atomic<std::uint64_t> holds_{0};
  std::atomic<bool> leaves_{false};
  // What makes sending and handling take another way than usual: one look for all.
  static constexpr unsigned cancelled_mark = 1;
  static constexpr unsigned traced_mark = 2;
  static constexpr unsigned watched_mark = 4;
  const unsigned own_marks_;  // of each epoch when it begins
  std::atomic<unsigned> marks_{own_marks_};

  std::atomic<bool> attention_{false};  // progress() has to look whether this rank is passive
  std::atomic<bool> gathers_{false};    // some peer's messages have yet to leave

  spin_lock progress_;  // guards what follows
  completion completion_;
  std::deque<channel::arrival> early_;               // of epochs that have not begun here
  std::uint64_t received_ = 0;                       // messages, in this epoch
  std::optional<channel::arrival>* lone_ = nullptr;  // of the caller of progress()
  int quiet_looks_ = 0;  // of progress(), one after the other, at which this rank was passive
  completion_counts totals_;

  std::atomic<std::uint64_t> handled_{0};
  std::atomic<std::uint64_t> handled_before_{0};  // in epochs that have ended
  std::atomic<unsigned> workers_handling_{0};
  arrived_messages arrived_;
  ordered_messages ordered_;

  large_messages large_;

  std::mutex failing_;  // guards what follows
  std::exception_ptr own_failure_;
  std::optional<failure> first_failure_;  // of all ranks, as far as known here
};

}  // namespace teff::detail
