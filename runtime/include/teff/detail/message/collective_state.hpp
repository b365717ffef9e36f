// What a rank knows of a broadcast or reduction (collectives.hpp). Both go over a binomial tree: with the
// ranks counted from the root, the parent of a rank is that number without its lowest bit that is set.
#pragma once

#include <teff/error.hpp>
#include <teff/message.hpp>

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace teff::detail {

class binomial_tree {
 public:
  binomial_tree(int rank, int ranks, int root) noexcept
      : ranks_(ranks), root_(root), number_((rank - root + ranks) % ranks) {}
  [[nodiscard]] bool is_root() const noexcept { return number_ == 0; }
  [[nodiscard]] int parent() const noexcept { return rank_of(number_ & (number_ - 1)); }
  // The one with the most ranks below it first.
  template <class Use>
  void each_child(Use use) const {
    const auto lowest = [&] {
      std::int64_t bit = 1;
      while (bit < ranks_ && (number_ & bit) == 0) bit *= 2;
      return bit;
    }();
    for (auto bit = lowest / 2; bit != 0; bit /= 2) {
      if (number_ + bit < ranks_) use(rank_of(static_cast<int>(number_ + bit)));
    }
  }
  [[nodiscard]] int children() const {
    int count = 0;
    each_child([&](int) { ++count; });
    return count;
  }

 private:
  [[nodiscard]] int rank_of(int number) const noexcept { return (number + root_) % ranks_; }
  int ranks_;
  int root_;
  int number_;
};

template <class... Arguments>
class broadcast_state {
 public:
  broadcast_state(int rank, int ranks) noexcept : rank_(rank), ranks_(ranks) {}

  void passes_on(message<int, Arguments...> by) { by_.emplace(by); }
  // To itself: it is passed on where it is handled.
  void send(const Arguments&... arguments) const { by_->send(rank_, rank_, arguments...); }
  void pass_on(int root, const Arguments&... arguments) const {
    binomial_tree(rank_, ranks_, root).each_child([&](int child) { by_->send(child, root, arguments...); });
  }

 private:
  int rank_;
  int ranks_;
  std::optional<message<int, Arguments...>> by_;
};

// Numbers of which most follow each other: each stretch takes the room of two.
class numbers_seen {
 public:
  // False: it was there.
  bool add(std::uint64_t number) {
    auto after = last_of_.upper_bound(number);
    if (after != last_of_.begin()) {
      const auto before = std::prev(after);
      if (before->second >= number) return false;
      if (before->second + 1 == number) {
        before->second = number;
        if (after != last_of_.end() && after->first == number + 1) {
          before->second = after->second;
          last_of_.erase(after);
        }
        return true;
      }
    }
    auto last = number;
    if (after != last_of_.end() && after->first == number + 1) {
      last = after->second;
      after = last_of_.erase(after);
    }
    last_of_.emplace_hint(after, number, last);
    return true;
  }
  void clear() noexcept { last_of_.clear(); }

 private:
  std::map<std::uint64_t, std::uint64_t> last_of_;  // by the first of a stretch
};

template <class T>
class reduction_state : public std::enable_shared_from_this<reduction_state<T>> {
 public:
  reduction_state(int rank, int ranks, int root) : rank_(rank), tree_(rank, ranks, root) {
    if (root < 0 || root >= ranks)
      throw misuse("teff::on_reduction: there is no rank " + std::to_string(root));
  }

  std::function<T(const T&, const T&)> combine;
  std::function<void(std::uint64_t round, const T& total)> total;

  void registered(communicator& comm) {
    auto& core = comm.internals();
    part_.emplace(
        comm.on([kept = this->shared_from_this(), &core](int from, std::uint64_t round, const T& value) {
          kept->take(core.epoch(), from, round, value);
        }));
  }
  // To itself: a round ends in a handler.
  void give(std::uint64_t round, const T& value) const { part_->send(rank_, rank_, round, value); }

 private:
  struct part {
    int left;
    std::optional<T> sum = std::nullopt;
  };

  void take(std::uint64_t epoch, int from, std::uint64_t round, const T& value) {
    std::optional<T> sum;
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(epoch_, epoch) != epoch) {
        rounds_.clear();
        given_.clear();
      }
      // What was passed on already is not kept: whether this rank has given is.
      if (from == rank_ && !given_.add(round))
        throw misuse("teff::reduction: rank " + std::to_string(rank_) + " gives a second value in round " +
                     std::to_string(round));
      auto& here = rounds_.try_emplace(round, part{tree_.children() + 1}).first->second;
      here.sum = here.sum ? combine(*here.sum, value) : value;
      if (--here.left != 0) return;
      sum = std::move(here.sum);
      rounds_.erase(round);
    }
    if (tree_.is_root()) {
      total(round, *sum);
    } else {
      part_->send(tree_.parent(), rank_, round, *sum);
    }
  }

  int rank_;
  binomial_tree tree_;
  std::optional<message<int, std::uint64_t, T>> part_;
  std::mutex mutex_;  // guards what follows
  std::uint64_t epoch_ = 0;
  std::map<std::uint64_t, part> rounds_;
  numbers_seen given_;  // rounds in which this rank has given its value
};

}  // namespace teff::detail
