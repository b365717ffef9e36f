#include <teff/detail/exceptions.hpp>
#include <teff/error.hpp>
#include <teff/simulated.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace teff {

// All packets of all channels, and the clock.
class simulated::network {
 public:
  network(int ranks, std::uint64_t seed) : ranks_(ranks), random_(seed) {}

  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  [[nodiscard]] std::uint64_t now() const {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  [[nodiscard]] std::size_t under_way() const {
    const std::lock_guard lock(mutex_);
    std::size_t all = 0;
    for (const auto& [pair, sent] : lines_) all += sent.packets.size();
    return all;
  }

  void send(std::size_t number, int from, int to, packet bytes) {
    const std::lock_guard lock(mutex_);
    put({number, to, from, no_block}, {0, std::move(bytes), {}, {}, {}});
    tell(number, to);
  }
  // Large data travel in pieces, each copied from the sender's memory when it arrives.
  void expect(std::size_t number, int from, int rank, int block, std::span<std::byte> to, packet then) {
    const std::lock_guard lock(mutex_);
    expected_[{number, rank, from, block}] = {to, std::move(then)};
  }
  void supply(std::size_t number, int from, int to, int block, std::span<const std::byte> bytes,
              packet then) {
    const std::lock_guard lock(mutex_);
    const line way{number, to, from, block};
    auto there = expected_.extract(way);
    auto [place, placed_then] = std::move(there.mapped());
    const auto pieces = 1 + random_() % 3;
    const auto piece = bytes.size() / pieces;
    for (auto left = pieces; left > 1; --left) {
      put(way, {0, {}, bytes.first(piece), place.first(piece), {}});
      bytes = bytes.subspan(piece);
      place = place.subspan(piece);
    }
    put(way, {0, std::move(placed_then), bytes, place, std::move(then)});
    tell(number, to);
  }
  std::optional<std::uint32_t> deposit(std::size_t number, int from, int to,
                                       std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    if (random_() % 2 == 0) return std::nullopt;
    const auto named = deposits_++;
    deposited_[{number, to, from, named}] = {bytes.begin(), bytes.end()};
    return named;
  }
  void withdraw(std::size_t number, int from, int rank, std::uint32_t named, std::span<std::byte> to) {
    const std::lock_guard lock(mutex_);
    const auto bytes = std::move(deposited_.extract({number, rank, from, named}).mapped());
    std::ranges::copy(std::span(bytes).first(to.size()), to.begin());
  }
  [[nodiscard]] std::size_t deposited() const {
    const std::lock_guard lock(mutex_);
    return deposited_.size();
  }
  std::optional<channel::arrival> receive(std::size_t number, int rank) {
    const std::lock_guard lock(mutex_);
    for (;;) {
      const auto first = first_for(number, rank);
      if (first == lines_.end()) return std::nullopt;
      auto came = std::move(first->second.packets.front());
      const auto from = first->first.from;
      first->second.packets.pop_front();
      now_ = std::max(now_, came.due);
      if (!came.piece.empty()) std::memcpy(came.place.data(), came.piece.data(), came.piece.size());
      if (!came.left.empty()) {
        put({number, from, from, no_block}, {0, std::move(came.left), {}, {}, {}});
        tell(number, from);
      }
      if (!came.bytes.empty()) return channel::arrival{from, std::move(came.bytes)};
    }
  }
  [[nodiscard]] bool has_arrivals(std::size_t number, int rank) const {
    const std::lock_guard lock(mutex_);
    for (auto each = lines_.lower_bound({number, rank, 0, no_block}); each != lines_.end(); ++each) {
      if (each->first.channel != number || each->first.to != rank) break;
      if (!each->second.packets.empty()) return true;
    }
    return false;
  }
  [[nodiscard]] std::size_t under_way(std::size_t number, int from, int to) const {
    const std::lock_guard lock(mutex_);
    const auto found = lines_.find({number, to, from, no_block});
    return found == lines_.end() ? 0 : found->second.packets.size();
  }
  void on_arrival(std::size_t number, int rank, std::function<void()> tell) {
    const std::lock_guard lock(mutex_);
    told_[{number, rank}] = std::move(tell);
  }

 private:
  static constexpr int no_block = -1;
  struct line {
    std::size_t channel;
    int to;
    int from;
    int block;  // the receiver's number of a large message; or no_block
    auto operator<=>(const line&) const = default;
  };
  struct deposit_name {
    std::size_t channel;
    int to;
    int from;
    std::uint32_t number;
    auto operator<=>(const deposit_name&) const = default;
  };
  struct timed_packet {
    std::uint64_t due;
    packet bytes;  // empty: a piece of large data that is not the last
    std::span<const std::byte> piece;
    std::span<std::byte> place;
    packet left;  // for the sender, once this piece was copied
  };
  struct sent_packets {
    std::deque<timed_packet> packets;
    std::uint64_t last = 0;  // when the last one is due
  };

  void put(const line& way, timed_packet sent) {
    auto& there = lines_[way];
    sent.due = there.last = std::max(there.last, now_ + delay());
    there.packets.push_back(std::move(sent));
  }
  void tell(std::size_t number, int rank) {
    if (const auto told = told_.find({number, rank}); told != told_.end() && told->second) told->second();
  }

  // Mostly short, sometimes so long that all other packets overtake.
  std::uint64_t delay() {
    const auto drawn = random_();
    return drawn % 8 == 0 ? drawn / 8 % 1000 : drawn / 8 % 10;
  }
  // The line to this rank whose first packet is due first.
  std::map<line, sent_packets>::iterator first_for(std::size_t number, int rank) {
    auto first = lines_.end();
    for (auto each = lines_.lower_bound({number, rank, 0, no_block}); each != lines_.end(); ++each) {
      if (each->first.channel != number || each->first.to != rank) break;
      if (each->second.packets.empty()) continue;
      if (first == lines_.end() || each->second.packets.front().due < first->second.packets.front().due)
        first = each;
    }
    return first;
  }

  const int ranks_;
  mutable std::mutex mutex_;  // guards what follows
  std::mt19937_64 random_;
  std::uint64_t now_ = 0;
  std::map<line, sent_packets> lines_;
  std::map<line, std::pair<std::span<std::byte>, packet>> expected_;
  std::map<std::pair<std::size_t, int>, std::function<void()>> told_;
  std::map<deposit_name, std::vector<std::byte>> deposited_;
  std::uint32_t deposits_ = 0;
};

class simulated::end final : public transport {
 public:
  end(std::shared_ptr<network> of, int rank) : network_(std::move(of)), rank_(rank) {}
  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int ranks() const noexcept override { return network_->ranks(); }
  [[nodiscard]] std::unique_ptr<channel> open() override {
    return std::make_unique<line>(network_, opened_++, rank_);
  }

 private:
  class line final : public channel {
   public:
    line(std::shared_ptr<network> of, std::size_t number, int rank)
        : network_(std::move(of)), number_(number), rank_(rank) {}
    ~line() override { network_->on_arrival(number_, rank_, nullptr); }
    void send(int to, packet&& bytes) override { network_->send(number_, rank_, to, std::move(bytes)); }
    std::optional<arrival> receive() override { return network_->receive(number_, rank_); }
    [[nodiscard]] bool has_arrivals() const noexcept override {
      return network_->has_arrivals(number_, rank_);
    }
    [[nodiscard]] std::size_t under_way(int to) const noexcept override {
      return network_->under_way(number_, rank_, to);
    }
    std::optional<std::uint32_t> deposit(int to, std::span<const std::byte> bytes) override {
      return network_->deposit(number_, rank_, to, bytes);
    }
    void withdraw(int from, std::uint32_t number, std::span<std::byte> to) override {
      network_->withdraw(number_, from, rank_, number, to);
    }
    void take_back(int to, std::uint32_t number) override {
      network_->withdraw(number_, rank_, to, number, {});
    }
    void expect(int from, int block, std::span<std::byte> to, packet then) override {
      network_->expect(number_, from, rank_, block, to, std::move(then));
    }
    void supply(int to, int block, std::span<const std::byte> bytes, packet then) override {
      network_->supply(number_, rank_, to, block, bytes, std::move(then));
    }
    void on_arrival(std::function<void()> tell) override {
      network_->on_arrival(number_, rank_, std::move(tell));
    }

   private:
    std::shared_ptr<network> network_;
    std::size_t number_;
    int rank_;
  };

  std::shared_ptr<network> network_;
  int rank_;
  std::size_t opened_ = 0;
};

simulated::simulated(int ranks, std::uint64_t seed) {
  if (ranks < 1) throw misuse("teff::simulated: a job has one rank at least");
  network_ = std::make_shared<network>(ranks, seed);
  for (int i = 0; i < ranks; ++i) transports_.push_back(std::make_unique<end>(network_, i));
}

simulated::~simulated() = default;

int simulated::ranks() const noexcept {
  return network_->ranks();
}

transport& simulated::rank(int rank) {
  if (rank < 0 || rank >= ranks()) detail::refuse_index("teff::simulated::rank", "rank", rank, ranks());
  return *transports_[static_cast<std::size_t>(rank)];
}

std::uint64_t simulated::now() const {
  return network_->now();
}

std::size_t simulated::deposited() const {
  return network_->deposited();
}

std::size_t simulated::under_way() const {
  return network_->under_way();
}

}  // namespace teff
