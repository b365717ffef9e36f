// The state of a broadcast or reduction on one rank (collectives.hpp).
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/message/rank_tree.hpp>
#include <teff/error.hpp>
#include <teff/message.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace teff::detail {

template <class... Arguments>
struct broadcast_state {
  // The message goes to this rank first, whose handler passes it on.
  void send(const Arguments&... arguments) const { by->send(rank, rank, arguments...); }
  void pass_on(int root, const Arguments&... arguments) const {
    rank_tree(rank, ranks, root).each_child([&](int child) { by->send(child, root, arguments...); });
  }

  int rank;
  int ranks;
  std::optional<message<int, Arguments...>> by = std::nullopt;
};

// A set of numbers, most of which are consecutive: it keeps the first and last of each stretch.
class numbers_seen {
 public:
  // Returns false if the number was there.
  bool add(std::uint64_t number);
  void clear() noexcept { last_of_.clear(); }

 private:
  std::map<std::uint64_t, std::uint64_t> last_of_;  // by the first of a stretch
};

template <class T>
class reduction_state final : public kept_rounds, public std::enable_shared_from_this<reduction_state<T>> {
 public:
  // `called`: its name in errors.
  reduction_state(int rank, int ranks, int root, const char* called)
      : rank_(rank), called_(called), tree_(rank, ranks, root) {
    if (root < 0 || root >= ranks) refuse_index("teff::on_reduction", "rank", root, ranks);
  }

  std::function<T(const T&, const T&)> combine;
  std::function<void(std::uint64_t round, const T& total)> total;

  void registered(communicator& comm) {
    auto& messages = private_access::source(comm);
    part_.emplace(
        comm.on([kept = this->shared_from_this(), &messages](int from, std::uint64_t round, const T& value) {
          kept->take(epoch_of(messages), from, round, value);
        }));
    keep_rounds(messages, this->shared_from_this());
  }
  // The value goes to this rank itself, so that a round ends in a handler.
  void give(std::uint64_t round, const T& value) const { part_->send(rank_, rank_, round, value); }

  std::uint64_t waiting(std::uint64_t epoch) override {
    const std::lock_guard lock(mutex_);
    return epoch == epoch_ ? rounds_.size() : 0;
  }
  std::string waits_in_words(std::uint64_t epoch) override {
    constexpr std::size_t most = 3;
    const std::lock_guard lock(mutex_);
    if (epoch != epoch_ || rounds_.empty()) return {};
    std::string words = name() + ": ";
    std::size_t named = 0;
    for (const auto& [round, state] : rounds_) {
      if (named == most) break;
      words += (named++ == 0 ? "round " : ", round ") + std::to_string(round) + " waits for " +
               tree_.words_of(state.missing);
    }
    if (rounds_.size() > named) words += ", and " + std::to_string(rounds_.size() - named) + " more wait";
    return words;
  }

 private:
  struct part {
    rank_tree::givers missing;
    std::optional<T> sum = std::nullopt;
  };

  [[nodiscard]] std::string name() const {
    return std::string(called_) + " (message " + std::to_string(part_->number()) + ")";
  }

  void take(std::uint64_t epoch, int from, std::uint64_t round, const T& value) {
    std::optional<T> sum;
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(epoch_, epoch) != epoch) {
        rounds_.clear();
        given_.clear();
      }
      // A round that was passed on is forgotten, but not that this rank has given its value.
      if (from == rank_ && !given_.add(round))
        throw_error(misuse(name() + ": rank " + std::to_string(rank_) + " gives a second value in round " +
                           std::to_string(round)));
      auto& kept = rounds_.try_emplace(round, part{tree_.all_givers()}).first->second;
      kept.sum = kept.sum ? combine(*kept.sum, value) : value;
      kept.missing &= ~(from == rank_ ? rank_tree::itself : tree_.child(from));
      if (kept.missing != 0) return;
      sum = std::move(kept.sum);
      rounds_.erase(round);
    }
    if (tree_.is_root()) {
      total(round, *sum);
    } else {
      part_->send(tree_.parent(), rank_, round, *sum);
    }
  }

  int rank_;
  const char* called_;
  rank_tree tree_;
  std::optional<message<int, std::uint64_t, T>> part_;
  std::mutex mutex_;  // guards what follows
  std::uint64_t epoch_ = 0;
  std::map<std::uint64_t, part> rounds_;
  numbers_seen given_;  // rounds in which this rank has given its value
};

// `combine` takes two values, the handler takes a round and its total.
template <class T, class Combine, class F>
concept makes_reduction = std::is_invocable_r_v<T, Combine&, const T&, const T&> &&
                          std::is_invocable_v<F&, std::uint64_t, const T&>;

template <class T, class Combine, class F>
std::shared_ptr<reduction_state<T>> make_reduction(communicator& comm, int root, Combine&& combine,
                                                   F&& handler, const char* called) {
  auto made = std::make_shared<reduction_state<T>>(comm.rank(), comm.ranks(), root, called);
  made->combine = std::forward<Combine>(combine);
  made->total = std::forward<F>(handler);
  made->registered(comm);
  return made;
}

}  // namespace teff::detail
