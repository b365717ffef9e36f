#include <teff/detail/message/communicator_core.hpp>
#include <teff/error.hpp>
#include <teff/version.hpp>

#include <cstring>
#include <utility>

namespace teff::detail {

namespace {

// A packet with as many bytes leaves, whatever else is on its way.
constexpr std::size_t packet_size = std::size_t{16} << 10;
// With as many packets on their way to a rank, further messages for it are gathered.
constexpr std::size_t packets_under_way = 2;
// After so many packets, or handlers, a worker looks at something else.
constexpr int packets_a_look = 16;
constexpr int handlers_a_run = 64;

// Of the calling thread: in whose handler it is.
thread_local const communicator_core* handling = nullptr;

std::uint64_t digest_of(const std::string& words) noexcept {
  std::uint64_t digest = 14695981039346656037U;  // FNV-1a
  for (const char each : words) digest = (digest ^ static_cast<unsigned char>(each)) * 1099511628211U;
  return digest;
}

std::string words_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

std::span<const std::byte> bytes_of_words(const std::string& words) noexcept {
  return std::as_bytes(std::span(words));
}

std::string words_in(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
T read_as(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(T)) throw malformed_message("teff::communicator: a packet ends too early");
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// The first line in which they differ.
std::string difference(const std::string& ours, const std::string& theirs) {
  for (std::size_t here = 0, there = 0;;) {
    const auto line = [](const std::string& words, std::size_t& at) {
      if (at >= words.size()) return std::string("nothing more");
      const auto end = words.find('\n', at);
      auto one = words.substr(at, end - at);
      at = end + 1;
      return one;
    };
    const auto mine = line(ours, here);
    const auto other = line(theirs, there);
    if (mine != other || (here >= ours.size() && there >= theirs.size()))
      return "\"" + mine + "\" here, \"" + other + "\" there";
  }
}

}  // namespace

communicator_core::communicator_core(transport& through, message_host& host, std::size_t window, int patience)
    : host_(host),
      rank_(through.rank()),
      window_(window),
      patience_(through.ranks() > 1 ? patience : 0),
      peers_(static_cast<std::size_t>(through.ranks())),
      channel_(through.open()),
      words_("libteff " + std::string(version()) + ", packets 1\n"),
      digest_(digest_of(words_)),
      completion_(through.rank(), through.ranks()),
      large_(*this) {
  channel_->on_arrival([this] { host_.work_came(); });
}

communicator_core::~communicator_core() {
  channel_->on_arrival(nullptr);
}

// ---- Messages that are sent ----

std::uint32_t communicator_core::add(registered_message added) {
  if (!ended()) throw misuse("teff::communicator::on: called while run() is in progress");
  const auto number = messages_.size();
  words_ +=
      std::to_string(number) + ": (" + added.arguments + ")" + (added.ordered ? ", ordered" : "") + "\n";
  if (added.large) {
    added.handle = [this, functions = added.large.get()](std::span<const std::byte> bytes) {
      large_.take_offer(*functions, bytes);
    };
  }
  digest_ = digest_of(words_);
  words_changed_ = true;
  messages_.push_back(std::move(added));
  return static_cast<std::uint32_t>(number);
}

bool communicator_core::in_handler() const noexcept {
  return handling == this;
}

bool communicator_core::has_room(int to) const noexcept {
  const auto& there = peers_[static_cast<std::size_t>(to)];
  // seq_cst: the last look before the caller sleeps, against receive().
  const auto acknowledged = there.acknowledged_bytes.load(std::memory_order_seq_cst);
  return there.sent_bytes.load(std::memory_order_relaxed) - acknowledged < window_ || cancelled();
}

bool communicator_core::try_send(int to, std::uint32_t number, std::size_t size,
                                 void (*fill)(const void* what, std::byte* at), const void* what) {
  if (to < 0 || to >= ranks())
    throw misuse("teff::communicator: there is no rank " + std::to_string(to) + " to send to");
  if (cancelled()) return true;
  auto& there = at(to);
  const std::lock_guard lock(there.mutex);
  if (!in_handler() && !has_room(to)) return false;
  put_record(to, there, {size, number, messages_[number].ordered ? 1U : 0U}, fill, what);
  return true;
}

// Under the peer's lock. Within try_send(), which is the path of every message: a call of its own would cost
// a tenth of it.
[[gnu::always_inline]] inline void communicator_core::put_record(
    int to, peer& there, const record_header& head, void (*fill)(const void* what, std::byte* at),
    const void* what) {
  // Relaxed: a thread of some activity sees the stamp of the epoch that this belongs to; for others either
  // will do. After give_counts() has had the lock it sees that stamp, or a later one.
  const auto stamp = stamp_.load(std::memory_order_relaxed);
  const auto bytes = record_bytes(head.size);
  if (there.gathered_records != 0 &&
      (there.gathered_epoch != stamp || there.gathered.size() + bytes > packet_size))
    send_gathered(to, there);
  if (there.gathered.empty()) there.gathered.append(sizeof(packet_header));
  const auto before = there.gathered.size();
  auto* const record = there.gathered.append(bytes);
  std::memcpy(record, &head, sizeof head);
  try {
    fill(what, record + sizeof head);
  } catch (...) {
    there.gathered.cut(before);
    throw;
  }
  std::memset(record + sizeof head + head.size, 0, bytes - sizeof head - head.size);
  there.gathered_epoch = stamp;
  ++there.gathered_records;
  ++there.sent[stamp % 2];
  there.sent_bytes.store(there.sent_bytes.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  if (there.gathered.size() >= packet_size || channel_->under_way(to) < packets_under_way) {
    send_gathered(to, there);
  } else if (!gathers_.load(std::memory_order_seq_cst) &&
             !gathers_.exchange(true, std::memory_order_seq_cst)) {
    // Who sets it false after that load takes this lock later, and sends this.
    host_.work_came();
  }
}

packet_header communicator_core::header(packet_kind kind, std::uint32_t records, std::uint64_t epoch,
                                        peer& to) noexcept {
  const auto handled = to.handled_bytes.load(std::memory_order_relaxed);
  to.told_bytes.store(handled, std::memory_order_relaxed);
  return {kind, records, epoch, digest_, handled};
}

// Under the peer's lock, which keeps packets in order.
void communicator_core::send_gathered(int to, peer& there) {
  const auto head = header(packet_kind::messages, there.gathered_records, there.gathered_epoch, there);
  std::memcpy(there.gathered.data(), &head, sizeof head);
  there.gathered_records = 0;
  ++there.packets_sent;
  channel_->send(to, std::exchange(there.gathered, {}));
}

bool communicator_core::send_all_gathered() {
  if (!gathers_.load(std::memory_order_relaxed)) return false;
  // seq_cst: before the looks at what was gathered. Who gathers more finds it false, and says so again.
  gathers_.store(false, std::memory_order_seq_cst);
  for (int to = 0; to < ranks(); ++to) {
    auto& there = at(to);
    const std::lock_guard lock(there.mutex);
    if (there.gathered_records != 0) send_gathered(to, there);
  }
  return true;
}

void communicator_core::send_control(int to, packet_kind kind, std::span<const std::byte> body) {
  auto& there = at(to);
  packet bytes;
  auto* const place = bytes.append(sizeof(packet_header) + body.size());
  const auto head = header(kind, 0, epoch_.load(std::memory_order_relaxed), there);
  std::memcpy(place, &head, sizeof head);
  if (!body.empty()) std::memcpy(place + sizeof head, body.data(), body.size());
  const std::lock_guard lock(there.mutex);
  channel_->send(to, std::move(bytes));
}

void communicator_core::tell_children(packet_kind kind, std::span<const std::byte> body) {
  completion_.tree().each_child([&](int child) { send_control(child, kind, body); });
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
  cancelled_.store(false, std::memory_order_relaxed);
  in_body_.store(true, std::memory_order_relaxed);
  epoch_.store(stamp_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  completion_.begin();
  for (auto& each : peers_) each.counted = 0;
  ended_.store(false, std::memory_order_seq_cst);
  if (!completion_.tree().is_root()) {
    const auto& words = std::exchange(words_changed_, false) ? words_ : std::string();
    send_control(completion_.tree().parent(), packet_kind::hello, bytes_of_words(words));
  }
  for (auto& each : std::exchange(early_, {})) receive_or_fail(each.from, std::move(each.bytes));
  look_again();
}

void communicator_core::body_ended(std::exception_ptr thrown) {
  if (thrown) fail(std::move(thrown));
  in_body_.store(false, std::memory_order_seq_cst);
  look_again();
}

void communicator_core::release() noexcept {
  if (holds_.fetch_sub(1, std::memory_order_seq_cst) == 1) look_again();
}

void communicator_core::look_again() noexcept {
  // seq_cst: after what the caller has done, before the look at sleepers.
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
    const failure mine{rank_, where + words_of(why)};
    {
      const std::lock_guard lock(failing_);
      if (own_failure_) return;
      own_failure_ = std::move(why);
      if (completion_.tree().is_root()) {
        if (first_failure_) return;
        first_failure_ = mine;
      }
    }
    cancelled_.store(true, std::memory_order_relaxed);
    tell_failure(mine);
    host_.state_changed();
  } catch (...) {
    std::terminate();  // no memory for the words of a failure
  }
}

// The root tells its children, whoever else his parent.
void communicator_core::tell_failure(const failure& first) noexcept {
  std::string body(sizeof first.rank, '\0');
  std::memcpy(body.data(), &first.rank, sizeof first.rank);
  body += first.words;
  if (completion_.tree().is_root()) {
    tell_children(packet_kind::abort, bytes_of_words(body));
  } else {
    send_control(completion_.tree().parent(), packet_kind::fail, bytes_of_words(body));
  }
}

// Under the lock progress_: no message comes meanwhile.
bool communicator_core::is_passive() noexcept {
  if (in_body_.load(std::memory_order_seq_cst) || holds_.load(std::memory_order_seq_cst) != 0) return false;
  // Acquire: what the handlers have done. Those that came are as many under this lock.
  if (handled_.load(std::memory_order_acquire) != received_) return false;
  return host_.at_rest();
}

// passive(), in completion.md. Under the lock progress_.
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
  for (auto& each : peers_) {
    const std::lock_guard lock(each.mutex);
    own.sent += each.sent[epoch % 2];
  }
  // A thread of no activity has begun to hold. What it has sent by then belongs to the next epoch.
  if (holds_.load(std::memory_order_seq_cst) != 0) {
    stamp_.store(epoch, std::memory_order_relaxed);
    return false;
  }
  const auto next = completion_.passive(own);
  if (next == completion::action::ask) {
    tell_children(packet_kind::ask);
    // A root without children gives its counts again, after it has received what is on its way.
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
  for (auto& each : peers_) {
    const std::lock_guard lock(each.mutex);
    each.sent_before += std::exchange(each.sent[epoch % 2], 0);
  }
  received_ = 0;
  handled_before_.fetch_add(handled_.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
  totals_ = totals;
  // seq_cst: before the look at waiters.
  ended_.store(true, std::memory_order_seq_cst);
  host_.state_changed();
}

message_counters communicator_core::counters() {
  message_counters all;
  for (auto& each : peers_) {
    const std::lock_guard lock(each.mutex);
    all.sent += each.sent_before + each.sent[0] + each.sent[1];
    all.bytes += each.sent_bytes.load(std::memory_order_relaxed);
    all.packets += each.packets_sent;
  }
  all.handled = handled_before_.load(std::memory_order_relaxed) + handled_.load(std::memory_order_relaxed);
  large_.count_in(all);
  return all;
}

std::string communicator_core::state() {
  const std::lock_guard lock(progress_);
  const auto epoch = epoch_.load(std::memory_order_relaxed);
  std::uint64_t sent = 0;
  std::string text;
  for (int rank = 0; rank < ranks(); ++rank) {
    auto& each = at(rank);
    const std::lock_guard sending(each.mutex);
    sent += each.sent[epoch % 2];
    if (!has_room(rank)) text += ", waits for room to send to rank " + std::to_string(rank);
  }
  text = std::to_string(sent) + " messages sent, " + std::to_string(received_) + " have come, " +
         std::to_string(handled_.load(std::memory_order_relaxed)) + " handled" + text;
  if (in_body_.load(std::memory_order_relaxed)) text += ", the body has not returned";
  if (const auto holds = holds_.load(std::memory_order_relaxed); holds != 0)
    text += ", held by " + std::to_string(holds);
  completion_.tree().each_child([&](int child) {
    const auto& below = at(child);
    if (below.counted == completion_.wave()) return;
    text += ", waits for rank " + std::to_string(child) +
            (below.begun == epoch ? " and those below it" : ", which has not begun");
  });
  if (completion_.own_given()) text += ", waits for rank " + std::to_string(completion_.tree().parent());
  return "rank " + std::to_string(rank_) + ", epoch " + std::to_string(epoch) + ": " + text;
}

// ---- Packets that come ----

bool communicator_core::progress(std::optional<channel::arrival>* lone) noexcept {
  const std::unique_lock lock(progress_, std::try_to_lock);
  if (!lock) return false;
  // seq_cst: before the look whether this rank is passive, against look_again().
  if (attention_.load(std::memory_order_seq_cst)) attention_.store(false, std::memory_order_seq_cst);
  lone_ = lone;
  bool any = true;
  try {
    const bool received = receive_some();
    const bool sent = send_all_gathered();
    if (received) quiet_looks_ = 0;
    any = give_counts() || received || sent;
  } catch (...) {
    fail(std::current_exception());
    // Whether this rank is passive has yet to be looked at.
    attention_.store(true, std::memory_order_seq_cst);
  }
  lone_ = nullptr;
  return any;
}

bool communicator_core::receive_some() {
  for (int i = 0; i < packets_a_look; ++i) {
    auto came = channel_->receive();
    if (!came) return i != 0;
    receive_or_fail(came->from, std::move(came->bytes));
  }
  return true;
}

// A packet that is refused fails the epoch, and leaves those behind it to be received: without their counts
// and reports the epoch would not end.
void communicator_core::receive_or_fail(int from, packet bytes) noexcept {
  try {
    receive(from, std::move(bytes));
  } catch (...) {
    fail(std::current_exception());
  }
}

void communicator_core::receive(int from, packet bytes) {
  const auto head = read_as<packet_header>(bytes.bytes());
  auto& there = at(from);
  // What an earlier packet has told may be more than this one's, which was made first.
  if (const auto known = there.acknowledged_bytes.load(std::memory_order_relaxed); head.handled > known) {
    // seq_cst: before the look at waiters.
    there.acknowledged_bytes.store(head.handled, std::memory_order_seq_cst);
    if (there.sent_bytes.load(std::memory_order_relaxed) - known >= window_) host_.state_changed();
  }
  const auto epoch = epoch_.load(std::memory_order_relaxed);
  if (head.kind == packet_kind::acknowledges || head.epoch < epoch) return;
  if (head.epoch > epoch) return early_.push_back({from, std::move(bytes)});
  if (head.kind == packet_kind::messages) return accept_messages(from, head, std::move(bytes));
  const auto body = bytes.bytes().subspan(sizeof(packet_header));
  if (head.kind == packet_kind::hello) return accept_hello(from, body, head.digest);
  accept_control(from, head.kind, body);
}

void communicator_core::accept_messages(int from, const packet_header& head, packet bytes) {
  received_ += head.records;
  if (!has_whole_records(bytes, head.records) || head.digest != digest_) {
    count_handled(from, head.records, bytes.size() - sizeof(packet_header));
    // The other case is told by whoever compares all messages (hello).
    if (head.digest == digest_)
      throw malformed_message("teff::communicator: a packet of messages was spoilt");
    return;
  }
  // Before a handler can send: that this rank is not sealed any more.
  stamp_.store(epoch_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  // The caller is about to run one handler itself; others are told if there is more.
  const bool takes_lone = lone_ != nullptr && !lone_->has_value();
  const bool more = !arrived_.empty() || (lone_ != nullptr && !takes_lone);
  if (takes_lone && head.records == 1 && record_at(bytes, sizeof(packet_header)).ordered == 0) {
    lone_->emplace(channel::arrival{from, std::move(bytes)});
    if (more) host_.work_came();
    return;
  }
  const auto batch = std::make_shared<arrived_batch>(from, std::move(bytes));
  batch->each_ordered([&](std::size_t where) { ordered_.put({batch, where}); });
  arrived_.put(batch);
  if (more || head.records > 1) host_.work_came();
}

void communicator_core::accept_hello(int from, std::span<const std::byte> body, std::uint64_t digest) {
  auto& words = at(from).words;
  if (!body.empty()) words = words_in(body);
  at(from).begun = epoch_.load(std::memory_order_relaxed);
  if (digest == digest_) return;
  throw ranks_differ("teff::communicator: rank " + std::to_string(rank_) + " and rank " +
                     std::to_string(from) +
                     " have registered different messages: " + difference(words_, words));
}

void communicator_core::accept_control(int from, packet_kind kind, std::span<const std::byte> body) {
  if (kind == packet_kind::report) {
    at(from).counted = completion_.wave();
    completion_.reported(read_as<completion_counts>(body));
  } else if (kind == packet_kind::ask) {
    completion_.asked();
    tell_children(packet_kind::ask);
  } else if (kind == packet_kind::end) {
    tell_children(packet_kind::end, body);
    end_epoch(read_as<completion_counts>(body));
  } else if (kind == packet_kind::fail || kind == packet_kind::abort) {
    const failure heard{read_as<int>(body), words_in(body.subspan(sizeof(int)))};
    if (kind == packet_kind::abort || completion_.tree().is_root()) {
      {
        const std::lock_guard lock(failing_);
        if (first_failure_) return;
        first_failure_ = heard;
      }
      cancelled_.store(true, std::memory_order_relaxed);
      if (kind == packet_kind::abort) {
        tell_children(packet_kind::abort, body);
      } else {
        tell_failure(heard);
      }
      host_.state_changed();
    } else {
      tell_failure(heard);
    }
  } else {
    throw malformed_message("teff::communicator: a packet of no known kind");
  }
}

// ---- Handlers ----

// A worker that runs handlers one after the other. Counting each by itself costs more than many a handler: so
// it counts those of one rank together. But a handler may take long, and wait for work that waits for room
// until this rank has told that it has handled what came before. So what it keeps is within a quarter of the
// window, beside the half that may be untold; and only one worker keeps any.
class communicator_core::handling_here {
 public:
  explicit handling_here(communicator_core& core) noexcept
      : core_(core),
        most_(core.workers_handling_.fetch_add(1, std::memory_order_relaxed) == 0 ? core.window_ / 4 : 0),
        outer_(std::exchange(handling, &core)) {}
  ~handling_here() {
    handling = outer_;
    count();
    core_.workers_handling_.fetch_sub(1, std::memory_order_relaxed);
  }
  handling_here(const handling_here&) = delete;
  handling_here& operator=(const handling_here&) = delete;

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
  const std::uint64_t most_;
  const communicator_core* const outer_;
  int from_ = -1;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
};

bool communicator_core::work() noexcept {
  std::optional<channel::arrival> lone;
  bool any = progress(&lone);
  if (lone) {
    const handling_here here(*this);
    handle_one(lone->bytes, sizeof(packet_header));
    count_handled(lone->from, 1, lone->bytes.size() - sizeof(packet_header));
    attention_.store(true, std::memory_order_seq_cst);  // as in handle()
    any = true;
  }
  return handle() || any;
}

bool communicator_core::handle() noexcept {
  if (arrived_.empty() && !ordered_.waiting()) return false;
  bool any = false;
  {
    handling_here here(*this);
    int left = handlers_a_run;
    for (auto batch = arrived_.front(); batch != nullptr && left != 0;) {
      const auto at = batch->take();
      if (!at) {
        arrived_.drop(batch);
        batch = arrived_.front();
        continue;
      }
      any = true;
      if (record_at(batch->bytes(), *at).ordered != 0) continue;
      --left;
      here.handle(*batch, *at);
    }
    for (; left != 0; --left) {
      const auto next = ordered_.take();
      if (!next) break;
      any = true;
      here.handle(*next->batch, next->at);
      ordered_.done();
    }
  }
  if (any) attention_.store(true, std::memory_order_seq_cst);  // as look_again(); this worker looks next
  return any;
}

void communicator_core::handle_one(const packet& bytes, std::size_t at) noexcept {
  if (cancelled()) [[unlikely]]
    return handle_cancelled(bytes, at);
  try {
    const auto number = record_at(bytes, at).message;
    if (number >= messages_.size()) [[unlikely]]
      return large_.take_step(static_cast<block_step>(number), arguments_at(bytes, at));
    messages_[number].handle(arguments_at(bytes, at));
  } catch (...) {
    fail(std::current_exception());
  }
}

// Large messages that have begun end as they would, and others are answered, so that nobody keeps their data.
void communicator_core::handle_cancelled(const packet& bytes, std::size_t at) noexcept {
  try {
    const auto number = record_at(bytes, at).message;
    if (number >= messages_.size()) {
      large_.take_step(static_cast<block_step>(number), arguments_at(bytes, at));
    } else if (messages_[number].large) {
      messages_[number].handle(arguments_at(bytes, at));
    }
  } catch (...) {
    fail(std::current_exception());
  }
}

void communicator_core::count_handled(int from, std::uint64_t messages, std::uint64_t bytes) noexcept {
  auto& there = at(from);
  const auto handled = there.handled_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (handled - there.told_bytes.load(std::memory_order_relaxed) >= window_ / 2)
    send_control(from, packet_kind::acknowledges);
  // Release: what the handlers have done, to is_passive().
  handled_.fetch_add(messages, std::memory_order_release);
}

// ---- For large messages ----

void communicator_core::send_step(int to, block_step step, const block_word& word) {
  // Within a handler there is room, and no failure stops it.
  auto& there = at(to);
  const std::lock_guard lock(there.mutex);
  put_record(
      to, there, {sizeof word, static_cast<std::uint32_t>(step), 0},
      [](const void* what, std::byte* at) { std::memcpy(at, what, sizeof word); }, &word);
}

packet communicator_core::step_packet(block_step step, const block_word& word) const {
  // A packet tells how much was handled; this one is made here, and tells nothing.
  const packet_header head{packet_kind::messages, 1, epoch_.load(std::memory_order_relaxed), digest_, 0};
  const record_header record{sizeof word, static_cast<std::uint32_t>(step), 0};
  packet bytes;
  auto* const at = bytes.append(sizeof head + record_bytes(sizeof word));
  static_assert(sizeof word % argument_alignment == 0);
  std::memcpy(at, &head, sizeof head);
  std::memcpy(at + sizeof head, &record, sizeof record);
  std::memcpy(at + sizeof head + sizeof record, &word, sizeof word);
  return bytes;
}

void communicator_core::count_step(int to) {
  auto& there = at(to);
  const std::lock_guard lock(there.mutex);
  ++there.sent[stamp_.load(std::memory_order_relaxed) % 2];
  // Who handles it says that it has handled as many bytes.
  there.sent_bytes.store(there.sent_bytes.load(std::memory_order_relaxed) + record_bytes(sizeof(block_word)),
                         std::memory_order_relaxed);
}

bool communicator_core::sees_work() const noexcept {
  // seq_cst, all: after the caller has said that it sleeps.
  return attention_.load(std::memory_order_seq_cst) || gathers_.load(std::memory_order_seq_cst) ||
         !arrived_.empty() || ordered_.waiting() || channel_->has_arrivals();
}

}  // namespace teff::detail
