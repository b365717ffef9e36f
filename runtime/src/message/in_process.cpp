// The transports between ranks of one process: loopback, and simulated, which delays what loopback hands
// over.
#include <teff/detail/exceptions.hpp>
#include <teff/detail/message/rank_table.hpp>
#include <teff/error.hpp>
#include <teff/loopback.hpp>
#include <teff/simulated.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace teff::detail {

// A part of the data of a large message. The receiver copies it when it arrives.
struct data_part {
  std::span<const std::byte> from;
  std::span<std::byte> to;
  packet left;  // the sender receives it once the part was copied; empty: another part follows
};

// On its way to a rank.
struct parcel {
  channel::arrival content;  // of a part of data that is not the last: without bytes
  std::unique_ptr<data_part> part = nullptr;
  std::uint64_t due = 0;
};

// The packets for one rank on one channel. Another rank may send before this rank opens the channel.
struct mailbox {
  using way = std::pair<int, int>;  // the sender, and its number of the data of a large message, or no_data
  static constexpr int no_data = -1;
  struct place {
    std::span<std::byte> to;
    packet then;
  };

  std::mutex mutex;            // guards what follows
  std::deque<parcel> parcels;  // in the order in which they are due
  std::function<void()> tell;
  std::map<way, std::uint64_t> last_due;
  std::map<way, place> expected;
  std::map<std::uint32_t, std::vector<std::byte>> deposited;
  std::uint32_t deposits = 0;

  std::atomic<std::size_t> size{0};           // of parcels, for a look without the lock
  rank_table<std::atomic<std::size_t>> from;  // packets by sender
};

class local_job {
 public:
  local_job(std::string called, int ranks, std::optional<std::uint64_t> seed);

  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(ends_.size()); }
  [[nodiscard]] transport& rank(int rank) {
    if (rank < 0 || rank >= ranks()) refuse_index((called_ + "::rank").c_str(), "rank", rank, ranks());
    return *ends_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] bool is_simulated() const noexcept { return simulated_; }
  // By rank.
  [[nodiscard]] std::vector<mailbox>& boxes(std::size_t channel) {
    const std::lock_guard lock(mutex_);
    return channels_.try_emplace(channel, ends_.size()).first->second;
  }
  // The sum of count(box) over all mailboxes, each of them locked.
  template <class Count>
  [[nodiscard]] std::size_t sum(Count count) {
    const std::lock_guard lock(mutex_);
    std::size_t all = 0;
    for (auto& [channel, boxes] : channels_) {
      for (auto& each : boxes) {
        const std::lock_guard locked(each.mutex);
        all += count(each);
      }
    }
    return all;
  }

  // ---- Memory that ranks share ----

  [[nodiscard]] std::shared_ptr<std::byte> share(std::size_t size, memory_name& name) {
    constexpr std::align_val_t page{4096};
    const std::shared_ptr<std::byte> made(static_cast<std::byte*>(::operator new(size, page)),
                                          [](std::byte* at) { ::operator delete(at, page); });
    std::memset(made.get(), 0, size);
    const std::lock_guard lock(mutex_);
    std::erase_if(shared_, [](const auto& each) { return each.second.expired(); });
    name = {0, shares_++, size};
    shared_[name.number] = made;
    return made;
  }
  [[nodiscard]] std::shared_ptr<std::byte> map(const memory_name& name) {
    const std::lock_guard lock(mutex_);
    const auto found = shared_.find(name.number);
    return found == shared_.end() ? nullptr : found->second.lock();
  }

  // ---- Simulation ----

  [[nodiscard]] std::uint64_t random() {
    const std::lock_guard lock(clock_);
    return random_();
  }
  [[nodiscard]] std::uint64_t now() {
    const std::lock_guard lock(clock_);
    return now_;
  }
  // When a packet that is sent now is due: mostly soon, sometimes so late that all other packets overtake it.
  [[nodiscard]] std::uint64_t due() {
    const std::lock_guard lock(clock_);
    const auto drawn = random_();
    return now_ + (drawn % 8 == 0 ? drawn / 8 % 1000 : drawn / 8 % 10);
  }
  void pass_until(std::uint64_t due) {
    const std::lock_guard lock(clock_);
    now_ = std::max(now_, due);
  }

 private:
  const std::string called_;
  const bool simulated_;
  std::vector<std::unique_ptr<transport>> ends_;
  std::mutex mutex_;  // guards what follows
  std::map<std::size_t, std::vector<mailbox>> channels_;
  std::map<std::uint64_t, std::weak_ptr<std::byte>> shared_;
  std::uint64_t shares_ = 0;
  std::mutex clock_;  // guards what follows
  std::mt19937_64 random_;
  std::uint64_t now_ = 0;
};

namespace {

class local_channel final : public channel {
 public:
  local_channel(local_job& job, std::size_t number, int rank)
      : job_(job), rank_(rank), boxes_(job.boxes(number)) {}
  ~local_channel() override { local_channel::on_arrival(nullptr); }

  void send(int to, packet&& bytes) override { put(to, {{rank_, std::move(bytes)}}); }
  std::optional<arrival> receive() override {
    while (has_arrivals()) {
      std::optional<parcel> first;
      {
        auto& mine = box(rank_);
        const std::lock_guard lock(mine.mutex);
        if (mine.parcels.empty()) break;
        first.emplace(std::move(mine.parcels.front()));
        mine.parcels.pop_front();
        mine.size.fetch_sub(1, std::memory_order_relaxed);
        if (!first->part) mine.from.at(first->content.from).fetch_sub(1, std::memory_order_relaxed);
      }
      if (job_.is_simulated()) job_.pass_until(first->due);
      if (first->part) {
        const auto& [from, to, left] = *first->part;
        if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
        const auto sender = first->content.from;
        if (!left.empty()) put(sender, {{sender, std::move(first->part->left)}});
        if (first->content.bytes.empty()) continue;
      }
      return std::move(first->content);
    }
    return std::nullopt;
  }
  [[nodiscard]] bool has_arrivals() const noexcept override {
    // seq_cst: after the worker has announced that it sleeps; pairs with put().
    return box(rank_).size.load(std::memory_order_seq_cst) != 0;
  }
  [[nodiscard]] std::size_t under_way(int to) const noexcept override {
    const auto* const sent = box(to).from.find(rank_);
    return sent == nullptr ? 0 : sent->load(std::memory_order_relaxed);  // a guess
  }
  [[nodiscard]] bool is_near(int /*to*/) const noexcept override { return !job_.is_simulated(); }
  void on_arrival(std::function<void()> tell) override {
    const std::lock_guard lock(box(rank_).mutex);
    box(rank_).tell = std::move(tell);
  }

  // ---- Large messages: loopback reads. Simulated deposits or supplies, at random ----

  [[nodiscard]] bool reads(int /*from*/) const noexcept override { return !job_.is_simulated(); }
  void read(int /*from*/, std::uint64_t address, std::span<std::byte> to) override {
    if (!to.empty()) std::memcpy(to.data(), reinterpret_cast<const void*>(address), to.size());
  }
  [[nodiscard]] std::optional<std::uint32_t> deposit(int to, std::span<const std::byte> bytes) override {
    if (!job_.is_simulated() || job_.random() % 2 == 0) return std::nullopt;
    const std::lock_guard lock(box(to).mutex);
    box(to).deposited.emplace(box(to).deposits, std::vector<std::byte>(bytes.begin(), bytes.end()));
    return box(to).deposits++;
  }
  void withdraw(int /*from*/, std::uint32_t number, std::span<std::byte> to) override {
    const std::lock_guard lock(box(rank_).mutex);
    const auto bytes = std::move(box(rank_).deposited.extract(number).mapped());
    std::ranges::copy(std::span(bytes).first(to.size()), to.begin());
  }
  void take_back(int to, std::uint32_t number) override {
    const std::lock_guard lock(box(to).mutex);
    box(to).deposited.erase(number);
  }
  void expect(int from, int number, std::span<std::byte> to, packet then) override {
    const std::lock_guard lock(box(rank_).mutex);
    box(rank_).expected[{from, number}] = {to, std::move(then)};
  }
  void supply(int to, int number, std::span<const std::byte> bytes, packet then) override {
    auto there = [&] {
      const std::lock_guard lock(box(to).mutex);
      return std::move(box(to).expected.extract({rank_, number}).mapped());
    }();
    auto place = there.to;
    const auto parts = 1 + job_.random() % 3;
    const auto size = bytes.size() / parts;
    const auto put_part = [&](std::size_t some, packet content, packet left) {
      put(to,
          {{rank_, std::move(content)},
           std::make_unique<data_part>(data_part{bytes.first(some), place.first(some), std::move(left)})},
          number);
      bytes = bytes.subspan(some);
      place = place.subspan(some);
    };
    for (auto others = parts - 1; others != 0; --others) put_part(size, {}, {});
    put_part(bytes.size(), std::move(there.then), std::move(then));
  }

 private:
  [[nodiscard]] mailbox& box(int rank) const noexcept { return boxes_[static_cast<std::size_t>(rank)]; }
  // Parcels of one way keep their order.
  void put(int to, parcel sent, int number = mailbox::no_data) {
    auto& there = box(to);
    const std::lock_guard lock(there.mutex);
    const auto from = sent.content.from;
    if (!sent.part) there.from.at(from).fetch_add(1, std::memory_order_relaxed);
    auto before = there.parcels.end();
    if (job_.is_simulated()) {
      auto& last = there.last_due[{from, number}];
      sent.due = last = std::max(last, job_.due());
      before = std::ranges::upper_bound(there.parcels, sent.due, {}, &parcel::due);
    }
    there.parcels.insert(before, std::move(sent));
    // seq_cst: before tell() looks for sleepers; pairs with has_arrivals().
    there.size.fetch_add(1, std::memory_order_seq_cst);
    // Under the lock, so that the channel that is told is not destroyed meanwhile.
    if (there.tell) there.tell();
  }

  local_job& job_;
  const int rank_;
  std::vector<mailbox>& boxes_;
};

class local_transport final : public transport {
 public:
  local_transport(local_job& job, int rank) : job_(job), rank_(rank) {}
  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int ranks() const noexcept override { return job_.ranks(); }
  [[nodiscard]] std::unique_ptr<channel> open() override {
    return std::make_unique<local_channel>(job_, opened_.fetch_add(1), rank_);
  }
  [[nodiscard]] std::shared_ptr<std::byte> share_memory(std::size_t size, memory_name& name) override {
    return job_.is_simulated() ? nullptr : job_.share(size, name);
  }
  [[nodiscard]] std::shared_ptr<std::byte> map_memory(int /*of*/, const memory_name& name) override {
    return job_.map(name);
  }

 private:
  local_job& job_;
  const int rank_;
  std::atomic<std::size_t> opened_{0};
};

}  // namespace

local_job::local_job(std::string called, int ranks, std::optional<std::uint64_t> seed)
    : called_(std::move(called)), simulated_(seed.has_value()), random_(seed.value_or(0)) {
  if (ranks < 1) throw misuse(called_ + ": a job has one rank at least");
  for (int i = 0; i < ranks; ++i) ends_.push_back(std::make_unique<local_transport>(*this, i));
}

}  // namespace teff::detail

namespace teff {

loopback::loopback(int ranks) : loopback("teff::loopback", ranks, {}) {}

loopback::loopback(const char* called, int ranks, std::optional<std::uint64_t> seed)
    : job_(std::make_unique<detail::local_job>(called, ranks, seed)) {}

loopback::~loopback() = default;

int loopback::ranks() const noexcept {
  return job_->ranks();
}

transport& loopback::rank(int rank) {
  return job_->rank(rank);
}

simulated::simulated(int ranks, std::uint64_t seed) : loopback("teff::simulated", ranks, seed) {}

std::uint64_t simulated::now() const {
  return job_->now();
}

std::size_t simulated::deposited() const {
  return job_->sum([](const detail::mailbox& box) { return box.deposited.size(); });
}

std::size_t simulated::under_way() const {
  return job_->sum([](const detail::mailbox& box) { return box.parcels.size(); });
}

}  // namespace teff
