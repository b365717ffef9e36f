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
struct simulated::network {
  network(int of_ranks, std::uint64_t seed) : ranks(of_ranks), random(seed) {}

  static constexpr int no_block = -1;
  struct way {
    std::size_t channel;
    int to;
    int from;
    int block;  // the receiver's number of a large message; or no_block
    auto operator<=>(const way&) const = default;
  };
  struct timed_packet {
    packet bytes;                      // empty: a piece of large data that is not the last
    std::span<const std::byte> piece;  // copied from the sender's memory to `place` when it arrives
    std::span<std::byte> place;
    packet left;  // for the sender, once this piece was copied
    std::uint64_t due = 0;
  };
  struct sent_packets {
    std::deque<timed_packet> packets;
    std::uint64_t last = 0;  // when the last one is due
  };
  using lines = std::map<way, sent_packets>;

  // The callers of all functions hold the mutex.
  void put(const way& on, timed_packet sent) {
    auto& there = all[on];
    sent.due = there.last = std::max(there.last, now + delay());
    there.packets.push_back(std::move(sent));
  }
  void tell(std::size_t channel, int rank) {
    if (const auto found = told.find({channel, rank}); found != told.end() && found->second) found->second();
  }
  // Mostly short, sometimes so long that all other packets overtake.
  std::uint64_t delay() {
    const auto drawn = random();
    return drawn % 8 == 0 ? drawn / 8 % 1000 : drawn / 8 % 10;
  }
  // The line to this rank whose first packet is due first.
  lines::iterator first_for(std::size_t channel, int rank) {
    auto first = all.end();
    for (auto each = all.lower_bound({channel, rank, 0, no_block}); each != all.end(); ++each) {
      if (each->first.channel != channel || each->first.to != rank) break;
      if (each->second.packets.empty()) continue;
      if (first == all.end() || each->second.packets.front().due < first->second.packets.front().due)
        first = each;
    }
    return first;
  }

  const int ranks;
  std::mutex mutex;  // guards what follows
  std::mt19937_64 random;
  std::uint64_t now = 0;
  lines all;
  std::map<way, std::pair<std::span<std::byte>, packet>> expected;
  std::map<std::pair<std::size_t, int>, std::function<void()>> told;
  std::map<way, std::vector<std::byte>> deposited;  // `block` is the number of the deposit
  int deposits = 0;
};

class simulated::end final : public transport {
 public:
  end(std::shared_ptr<network> of, int rank) : network_(std::move(of)), rank_(rank) {}
  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int ranks() const noexcept override { return network_->ranks; }
  [[nodiscard]] std::unique_ptr<channel> open() override {
    return std::make_unique<line>(network_, opened_++, rank_);
  }

 private:
  class line final : public channel {
   public:
    line(std::shared_ptr<network> of, std::size_t number, int rank)
        : network_(std::move(of)), in_(*network_), number_(number), rank_(rank) {}
    ~line() override { line::on_arrival(nullptr); }
    void send(int to, packet&& bytes) override {
      const std::lock_guard lock(in_.mutex);
      in_.put(to_rank(to), {std::move(bytes), {}, {}, {}});
      in_.tell(number_, to);
    }
    std::optional<arrival> receive() override {
      const std::lock_guard lock(in_.mutex);
      for (;;) {
        const auto first = in_.first_for(number_, rank_);
        if (first == in_.all.end()) return std::nullopt;
        auto came = std::move(first->second.packets.front());
        const auto from = first->first.from;
        first->second.packets.pop_front();
        in_.now = std::max(in_.now, came.due);
        if (!came.piece.empty()) std::memcpy(came.place.data(), came.piece.data(), came.piece.size());
        if (!came.left.empty()) {
          in_.put({number_, from, from, network::no_block}, {std::move(came.left), {}, {}, {}});
          in_.tell(number_, from);
        }
        if (!came.bytes.empty()) return arrival{from, std::move(came.bytes)};
      }
    }
    [[nodiscard]] bool has_arrivals() const noexcept override {
      const std::lock_guard lock(in_.mutex);
      return in_.first_for(number_, rank_) != in_.all.end();
    }
    [[nodiscard]] std::size_t under_way(int to) const noexcept override {
      const std::lock_guard lock(in_.mutex);
      const auto found = in_.all.find(to_rank(to));
      return found == in_.all.end() ? 0 : found->second.packets.size();
    }
    std::optional<std::uint32_t> deposit(int to, std::span<const std::byte> bytes) override {
      const std::lock_guard lock(in_.mutex);
      if (in_.random() % 2 == 0) return std::nullopt;
      const int named = in_.deposits++;
      in_.deposited[to_rank(to, named)] = {bytes.begin(), bytes.end()};
      return static_cast<std::uint32_t>(named);
    }
    void withdraw(int from, std::uint32_t number, std::span<std::byte> to) override {
      const std::lock_guard lock(in_.mutex);
      const auto bytes = std::move(in_.deposited.extract(from_rank(from, static_cast<int>(number))).mapped());
      std::ranges::copy(std::span(bytes).first(to.size()), to.begin());
    }
    void take_back(int to, std::uint32_t number) override {
      const std::lock_guard lock(in_.mutex);
      in_.deposited.erase(to_rank(to, static_cast<int>(number)));
    }
    void expect(int from, int block, std::span<std::byte> to, packet then) override {
      const std::lock_guard lock(in_.mutex);
      in_.expected[from_rank(from, block)] = {to, std::move(then)};
    }
    void supply(int to, int block, std::span<const std::byte> bytes, packet then) override {
      const std::lock_guard lock(in_.mutex);
      const auto way = to_rank(to, block);
      auto there = in_.expected.extract(way);
      auto [place, placed_then] = std::move(there.mapped());
      const auto pieces = 1 + in_.random() % 3;
      const auto piece = bytes.size() / pieces;
      for (auto left = pieces; left > 1; --left) {
        in_.put(way, {{}, bytes.first(piece), place.first(piece), {}});
        bytes = bytes.subspan(piece);
        place = place.subspan(piece);
      }
      in_.put(way, {std::move(placed_then), bytes, place, std::move(then)});
      in_.tell(number_, to);
    }
    void on_arrival(std::function<void()> tell) override {
      const std::lock_guard lock(in_.mutex);
      in_.told[{number_, rank_}] = std::move(tell);
    }

   private:
    [[nodiscard]] network::way to_rank(int to, int block = network::no_block) const noexcept {
      return {number_, to, rank_, block};
    }
    [[nodiscard]] network::way from_rank(int from, int block) const noexcept {
      return {number_, rank_, from, block};
    }

    std::shared_ptr<network> network_;
    network& in_;
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
  return network_->ranks;
}

transport& simulated::rank(int rank) {
  if (rank < 0 || rank >= ranks()) detail::refuse_index("teff::simulated::rank", "rank", rank, ranks());
  return *transports_[static_cast<std::size_t>(rank)];
}

std::uint64_t simulated::now() const {
  const std::lock_guard lock(network_->mutex);
  return network_->now;
}

std::size_t simulated::deposited() const {
  const std::lock_guard lock(network_->mutex);
  return network_->deposited.size();
}

std::size_t simulated::under_way() const {
  const std::lock_guard lock(network_->mutex);
  std::size_t all = 0;
  for (const auto& [way, sent] : network_->all) all += sent.packets.size();
  return all;
}

}  // namespace teff
