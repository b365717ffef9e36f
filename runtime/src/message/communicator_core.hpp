// The part of a communicator that knows neither the types of its messages nor the workers
// (src/message/README.md).
#pragma once

#include <teff/detail/message/message_access.hpp>
#include <teff/detail/message/rank_table.hpp>
#include <teff/detail/scheduler/spin_lock.hpp>
#include <teff/transport.hpp>
#include "message/arrived_messages.hpp"
#include "message/completion.hpp"
#include "message/large_messages.hpp"
#include "message/wire.hpp"

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
#include <vector>

namespace teff::detail {

// The core's owner, which has the workers. The core reports events to it.
class message_host {
 public:
  virtual ~message_host() = default;
  // There is work for any worker: progress() or handle().
  virtual void work_came() noexcept = 0;
  // There is room again, or the epoch was cancelled or has ended: waiting threads look again.
  virtual void state_changed() noexcept = 0;
  // Whether nothing outside of handlers and the body goes on that may send messages. Once true, it stays true
  // until a message is handled.
  [[nodiscard]] virtual bool at_rest() noexcept = 0;
  // How many things wait for messages that have not come. The core asks when the rank is passive.
  [[nodiscard]] virtual std::uint64_t left() noexcept = 0;
  // The owner's name in texts. The core's constructor asks for it, too.
  [[nodiscard]] virtual std::string name() const { return "communicator"; }

  // The trace of this rank; null: it is not traced. Constant.
  [[nodiscard]] virtual class trace* traced() noexcept { return nullptr; }
};

class communicator_core {
 public:
  // `window`: so many bytes of messages may be on their way to one rank before its senders wait. `patience`:
  // a passive rank gives its counts only after so many calls of progress() that find nothing. An answer to
  // its last message often comes meanwhile, and a wave costs as much as a message.
  communicator_core(transport& through, message_host& host, std::size_t window, int patience = 0);
  ~communicator_core();

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] std::size_t window() const noexcept { return window_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }

  // ---- Messages ----

  // Registers a message, and returns its number. Throws misuse within an epoch.
  std::uint32_t add(registered_message added);
  // Throws misuse if there is no such rank.
  void expect_rank(int to) const;
  // Sends message `number`. Returns false if there is no room: the caller may wait until has_room(). Within a
  // handler there is always room.
  [[nodiscard]] bool try_send(int to, std::uint32_t number, const outgoing_arguments& arguments);
  [[nodiscard]] bool has_room(int to) noexcept;
  [[nodiscard]] bool in_handler() const noexcept;

  [[nodiscard]] large_messages& large() noexcept { return large_; }

  // A note goes to take(from, bytes) on the other rank at once, whether there is room or not, also after a
  // failure. take() is called by the worker in progress(), one at a time. It may send notes. If it throws,
  // the epoch fails. Within epochs only; before the first one, each rank says what takes its notes.
  void on_note(std::function<void(int from, std::span<const std::byte>)> take) {
    take_note_ = std::move(take);
  }
  // The bytes of a note in two parts.
  void send_note(int to, std::span<const std::byte> head, std::span<const std::byte> rest) {
    send_control(to, packet_kind::note, head, rest);
  }

  // ---- Epochs ----

  // The number of the epoch that began last.
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_relaxed); }
  // Begins this rank's part of an epoch. Throws misuse if the last epoch has not ended here.
  void begin();
  void body_ended(std::exception_ptr thrown);
  [[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_seq_cst); }
  // Why the last epoch failed; null if it did not.
  [[nodiscard]] std::exception_ptr take_failure();
  // The sums over all ranks with which the last epoch ended.
  [[nodiscard]] const completion_counts& totals() const noexcept { return totals_; }
  // The epoch does not end before each hold() has had its end_hold().
  void hold() noexcept { holds_.fetch_add(1, std::memory_order_seq_cst); }
  void end_hold() noexcept;
  // From now on no hold keeps an epoch from ending. A thread that holds may outlive the communicator.
  void ignore_holds() noexcept { holds_count_.store(false, std::memory_order_relaxed); }
  // Something on this rank has failed. The epoch ends on all ranks as soon as it can. The other ranks get
  // `where` and the exception's words.
  void fail(std::exception_ptr why, const std::string& where = {}) noexcept;
  [[nodiscard]] const std::atomic<unsigned>& marks() const noexcept { return marks_; }
  [[nodiscard]] bool cancelled() const noexcept {
    return (marks_.load(std::memory_order_relaxed) & cancelled_mark) != 0;
  }

  // As communicator::counters().
  [[nodiscard]] message_counters counters();
  // Says in words why the epoch goes on, as far as this rank knows.
  [[nodiscard]] std::string state();
  // The part of state() that names handlers which have begun and not returned. The core counts them where
  // TEFF_WATCHDOG is set.
  [[nodiscard]] std::string running_handlers() const;

  // ---- Work: called by workers ----

  // progress(), then handle(). A message that comes alone is handled at once, and stored nowhere.
  bool work() noexcept;
  // Receives packets, sends gathered messages, and looks whether this rank is passive. Returns whether it did
  // anything. One thread at a time does this; for any other it returns false at once.
  // `lone`, if not null, gets a packet of one message, which the caller then handles at once.
  bool progress(std::optional<channel::arrival>* lone = nullptr) noexcept;
  // Runs some handlers. Returns whether there were any.
  bool handle() noexcept;
  [[nodiscard]] bool sees_work() const noexcept;
  [[nodiscard]] channel& line() noexcept { return *channel_; }
  // To be called after a change outside of the core that may have made this rank passive.
  void look_again() noexcept;

 private:
  struct peer {
    spin_lock mutex;  // guards what follows
    std::uint16_t gathered_records = 0;
    std::uint64_t gathered_epoch = 0;
    packet gathered;                       // the packet that is being filled; its header comes last
    std::uint64_t sent[2] = {};            // messages of epochs with even and with odd numbers
    std::uint64_t sent_before = 0;         // messages of epochs that have ended
    std::uint64_t packets_sent = 0;        // with messages
    std::uint64_t large = 0;               // large messages
    std::uint64_t large_bytes = 0;         // of their data
    std::uint64_t before_last_packet = 0;  // sent_bytes without the last packet

    // Bytes of messages to that rank since the beginning: sent (written under `mutex`), and known to be
    // handled there (written under progress_).
    std::atomic<std::uint64_t> sent_bytes{0};
    std::atomic<std::uint64_t> acknowledged_bytes{0};
    // Bytes of messages from that rank: handled here, and reported to it as handled.
    std::atomic<std::uint64_t> handled_bytes{0};
    std::atomic<std::uint64_t> told_bytes{0};
    // Of a child in the tree; guarded by progress_.
    std::string words;          // its registered messages, from its last hello
    std::uint64_t begun = 0;    // the epoch of that hello
    std::uint64_t counted = 0;  // the wave of its last report
  };
  struct failure {
    int rank;
    std::string words;
  };

  [[nodiscard]] bool has_room(const peer& there) const noexcept;
  // `traced`: the message's number in a trace, if `head` says that it has one.
  void put_record(int to, peer& there, const record_header& head, const outgoing_arguments& arguments,
                  std::uint64_t traced = 0);
  void send_gathered(int to, peer& there);
  [[nodiscard]] bool leaves_at_once(int to, const peer& there, std::size_t added) const noexcept;
  void send_control(int to, packet_kind kind, std::span<const std::byte> body = {},
                    std::span<const std::byte> rest = {});
  void tell_children(packet_kind kind, std::span<const std::byte> body = {});
  bool send_all_gathered();
  [[nodiscard]] packet_header header(packet_kind kind, std::uint16_t records, std::uint64_t epoch,
                                     peer& to) noexcept;

  [[nodiscard]] bool has_progress() const noexcept;
  bool receive_some();
  void receive(int from, packet& bytes) noexcept;
  void accept_messages(int from, const packet_header& header, packet& bytes);
  void accept_hello(int from, std::span<const std::byte> body);
  // Asks the trace's next question about rank 0's clock, if it has one. `begins` is true where this rank's
  // part of an epoch begins or ends, and false where an answer has just come.
  void ask_for_clock(bool begins);
  void accept_control(int from, packet_kind kind, std::span<const std::byte> body);
  // `chosen`: by the root. `body`: a rank and words.
  void spread_failure(bool chosen, std::span<const std::byte> body);
  [[nodiscard]] bool is_held() const noexcept {
    return holds_.load(std::memory_order_seq_cst) != 0 && holds_count_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_passive() noexcept;
  bool give_counts();
  void end_epoch(const completion_counts& totals) noexcept;
  class handler_run;
  void handle_one(const packet& bytes, std::size_t at) noexcept;
  void handle_unusual(const packet& bytes, std::size_t at);

  // ---- For large messages ----
  friend class large_messages;
  // Sends a step whether there is room or not, also after a failure.
  void send_step(int to, block_step step, const block_word& word);
  // The same as a packet that the channel returns when the data have moved. The caller counts the step as
  // sent, by count_step().
  [[nodiscard]] packet step_packet(block_step step, const block_word& word) const;
  void count_step(int to);
  void count_handled(int from, std::uint64_t messages, std::uint64_t bytes) noexcept;

  message_host& host_;
  const int rank_;
  const int ranks_;
  const std::size_t window_;
  const int patience_;
  rank_table<peer> peers_;
  std::unique_ptr<channel> channel_;

  std::function<void(int, std::span<const std::byte>)> take_note_;
  std::vector<registered_message> messages_;
  // By message: how many of its handlers run, counted for the watchdog. The last entry counts steps of large
  // messages.
  std::deque<std::atomic<unsigned>> running_;
  std::string words_;  // all registered messages; changes outside of epochs only
  std::uint32_t digest_ = 0;
  bool words_changed_ = true;

  std::atomic<std::uint64_t> epoch_{0};  // the one that began last
  std::atomic<std::uint64_t> stamp_{1};  // epoch of messages sent now: epoch_ + 1 while this rank is sealed
  std::atomic<bool> ended_{true};
  std::atomic<bool> in_body_{false};
  std::atomic<std::uint64_t> holds_{0};
  std::atomic<bool> holds_count_{true};  // see ignore_holds()
  // Beside cancelled_mark.
  static constexpr unsigned traced_mark = 2;
  static constexpr unsigned watched_mark = 4;
  const unsigned own_marks_;  // the marks with which each epoch begins
  std::atomic<unsigned> marks_{own_marks_};

  std::atomic<bool> attention_{false};   // whether this rank is passive has to be looked at
  std::atomic<bool> gathers_{false};     // gathered messages have yet to leave
  std::atomic<std::uint64_t> waits_{0};  // calls of try_send() that found no room

  spin_lock progress_;  // guards what follows
  completion completion_;
  std::deque<channel::arrival> early_;               // packets of epochs that have not begun here
  std::uint64_t received_ = 0;                       // messages of this epoch that have come
  std::optional<channel::arrival>* lone_ = nullptr;  // see progress(lone)
  int quiet_looks_ = 0;  // calls of progress() in a row that found this rank passive
  completion_counts totals_;

  std::atomic<std::uint64_t> handled_{0};         // messages of this epoch
  std::atomic<std::uint64_t> handled_before_{0};  // messages of epochs that have ended
  std::atomic<unsigned> workers_handling_{0};
  arrived_messages arrived_;
  ordered_messages ordered_;

  large_messages large_;

  std::mutex failing_;  // guards what follows
  std::exception_ptr own_failure_;
  std::optional<failure> first_failure_;  // the first failure of all ranks that this rank knows of
};

}  // namespace teff::detail
