#include <teff/error.hpp>
#include <teff/simulated.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <utility>

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
    auto& sent = lines_[{number, to, from}];
    sent.last = std::max(sent.last, now_ + delay());
    sent.packets.push_back({sent.last, std::move(bytes)});
    if (const auto told = told_.find({number, to}); told != told_.end() && told->second) told->second();
  }
  std::optional<channel::arrival> receive(std::size_t number, int rank) {
    const std::lock_guard lock(mutex_);
    const auto first = first_for(number, rank);
    if (first == lines_.end()) return std::nullopt;
    now_ = std::max(now_, first->second.packets.front().due);
    std::optional<channel::arrival> taken(
        {first->first.from, std::move(first->second.packets.front().bytes)});
    first->second.packets.pop_front();
    return taken;
  }
  [[nodiscard]] bool has_arrivals(std::size_t number, int rank) const {
    const std::lock_guard lock(mutex_);
    for (auto each = lines_.lower_bound({number, rank, 0}); each != lines_.end(); ++each) {
      if (each->first.channel != number || each->first.to != rank) break;
      if (!each->second.packets.empty()) return true;
    }
    return false;
  }
  [[nodiscard]] std::size_t under_way(std::size_t number, int from, int to) const {
    const std::lock_guard lock(mutex_);
    const auto found = lines_.find({number, to, from});
    return found == lines_.end() ? 0 : found->second.packets.size();
  }
  void on_arrival(std::size_t number, int rank, std::function<void()> tell) {
    const std::lock_guard lock(mutex_);
    told_[{number, rank}] = std::move(tell);
  }

 private:
  struct line {
    std::size_t channel;
    int to;
    int from;
    auto operator<=>(const line&) const = default;
  };
  struct timed_packet {
    std::uint64_t due;
    packet bytes;
  };
  struct sent_packets {
    std::deque<timed_packet> packets;
    std::uint64_t last = 0;  // when the last one is due
  };

  // Mostly short, sometimes so long that all else overtakes it.
  std::uint64_t delay() {
    const auto drawn = random_();
    return drawn % 8 == 0 ? drawn / 8 % 1000 : drawn / 8 % 10;
  }
  // The one that is due first, for this rank.
  std::map<line, sent_packets>::iterator first_for(std::size_t number, int rank) {
    auto first = lines_.end();
    for (auto each = lines_.lower_bound({number, rank, 0}); each != lines_.end(); ++each) {
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
  std::map<std::pair<std::size_t, int>, std::function<void()>> told_;
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
    void send(int to, packet bytes) override { network_->send(number_, rank_, to, std::move(bytes)); }
    std::optional<arrival> receive() override { return network_->receive(number_, rank_); }
    [[nodiscard]] bool has_arrivals() const noexcept override {
      return network_->has_arrivals(number_, rank_);
    }
    [[nodiscard]] std::size_t under_way(int to) const noexcept override {
      return network_->under_way(number_, rank_, to);
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
  return *transports_.at(static_cast<std::size_t>(rank));
}

std::uint64_t simulated::now() const {
  return network_->now();
}

std::size_t simulated::under_way() const {
  return network_->under_way();
}

}  // namespace teff
