#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "teff/apps/app.hpp"
#include "ways_in_tests.hpp"

namespace teff::apps {

/// Messages between ranks that are threads.
class mail {
 public:
  using label = std::tuple<int, int, int>;  ///< from, to, tag

  void send(const label& to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    sent_[to].assign(bytes.begin(), bytes.end());
  }
  [[nodiscard]] bool has(const label& from) {
    const std::lock_guard lock(mutex_);
    return sent_.contains(from);
  }
  std::vector<std::byte> take(const label& from) {
    const std::lock_guard lock(mutex_);
    return std::move(sent_.extract(from).mapped());
  }

 private:
  std::mutex mutex_;
  std::map<label, std::vector<std::byte>> sent_;
};

/// A rank whose tasks send and receive, in an order that the accesses allow.
class rank_in_any_order final : public in_any_order, public ranks_of_way {
 public:
  rank_in_any_order(const place& at, mail& with, std::int64_t parts, unsigned seed)
      : in_any_order(parts, seed), at_(at), mail_(with) {}

  [[nodiscard]] ranks_of_way& over() override { return *this; }
  void exchange(std::span<const crossing> all) override {
    const int tag = next_++;
    for (const crossing& each : all) {
      add({.body = [this, tag, to = each.rank,
                    sent = each.sent](range) { mail_.send({at_.rank, to, tag}, sent.bytes()); },
           .accesses = {each.sent}});
      const mail::label from{each.rank, at_.rank, tag};
      add({.body = [this, from, received = each.received](
                       range) { std::ranges::copy(mail_.take(from), received.bytes().begin()); },
           .accesses = {each.received},
           .has_come = [this, from] { return mail_.has(from); }});
    }
  }
  void reduce(const field& of, reduction by) override {
    const int tag = next_++;
    const field_access all = inout(of);
    add({.body =
             [this, tag, all](range) {
               for (int to = 0; to < at_.ranks; ++to) mail_.send({at_.rank, to, tag}, all.bytes());
             },
         .accesses = {all}});
    add({.body = [this, tag, all, by](range) { reduce(tag, all.bytes(), by); },
         .accesses = {all},
         .has_come =
             [this, tag] {
               for (int from = 0; from < at_.ranks; ++from)
                 if (!mail_.has({from, at_.rank, tag})) return false;
               return true;
             }});
  }

 private:
  void reduce(int tag, std::span<std::byte> numbers, reduction by) {
    std::vector<double> result(numbers.size() / sizeof(double));
    std::vector<double> other(result.size());
    for (int from = 0; from < at_.ranks; ++from) {
      std::memcpy(other.data(), mail_.take({from, at_.rank, tag}).data(), numbers.size());
      for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = from == 0                ? other[i]
                    : by == reduction::least ? std::min(result[i], other[i])
                                             : result[i] + other[i];
    }
    std::memcpy(numbers.data(), result.data(), numbers.size());
  }

  place at_;
  mail& mail_;
  int next_ = 0;
};

/// The finding of rank 0 of an app whose ranks are threads.
inline finding found_over_threads(int ranks, const description::maker& make, std::int64_t parts,
                                  unsigned seed) {
  mail between;
  finding found;
  const auto run = [&](int rank) {
    const place at{rank, ranks};
    const auto app = make(at);
    rank_in_any_order by(at, between, parts, seed + static_cast<unsigned>(rank));
    app->reset();
    app->run(by);
    finding mine = app->check(by);
    if (rank == 0) found = std::move(mine);
  };
  std::vector<std::jthread> others;
  for (int rank = 1; rank < ranks; ++rank) others.emplace_back(run, rank);
  run(0);
  others.clear();  // joins
  return found;
}

}  // namespace teff::apps
