#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "sssp/graph.hpp"

namespace teff::apps::sssp {

/// The vertices that one thread has put into each bucket of distances.
class bins {
 public:
  void add(std::size_t bucket, vertex each) {
    if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
    buckets_[bucket].push_back(each);
  }
  [[nodiscard]] std::size_t count(std::size_t bucket) const {
    return bucket < buckets_.size() ? buckets_[bucket].size() : 0;
  }
  /// The vertices of a bucket into which add() has put some.
  [[nodiscard]] std::vector<vertex>& operator[](std::size_t bucket) { return buckets_[bucket]; }
  /// Empties such a bucket. The vertices stay until the next call.
  [[nodiscard]] std::span<const vertex> take(std::size_t bucket) {
    taken_.clear();
    taken_.swap(buckets_[bucket]);
    return taken_;
  }
  /// The lowest bucket with vertices from `bucket` on; past the last one if there is none.
  [[nodiscard]] std::size_t lowest(std::size_t bucket) const {
    while (bucket < buckets_.size() && buckets_[bucket].empty()) ++bucket;
    return bucket;
  }
  [[nodiscard]] std::size_t buckets() const { return buckets_.size(); }

 private:
  std::vector<std::vector<vertex>> buckets_;
  std::vector<vertex> taken_;
};

/// Bins that all tasks share. For each bucket that has vertices, a task waits that will take some of them.
class shared_bins {
 public:
  /// Moves all vertices here. Returns the buckets that had none: the caller makes a task for each.
  [[nodiscard]] std::vector<std::size_t> add(bins& from) {
    std::vector<std::size_t> woken;
    const std::lock_guard lock(mutex_);
    for (std::size_t bucket = from.lowest(0); bucket < from.buckets(); bucket = from.lowest(bucket + 1)) {
      if (all_.count(bucket) == 0) woken.push_back(bucket);
      for (const vertex each : from[bucket]) all_.add(bucket, each);
      from[bucket].clear();
    }
    return woken;
  }
  struct part {
    std::vector<vertex> vertices;
    bool is_last;  ///< the bucket has no others; if it has, the caller makes a task for it
  };
  /// Up to `most` vertices of a bucket.
  [[nodiscard]] part take(std::size_t bucket, std::size_t most) {
    const std::lock_guard lock(mutex_);
    std::vector<vertex>& all = all_[bucket];
    const auto first = all.end() - static_cast<std::ptrdiff_t>(std::min(most, all.size()));
    part taken{{first, all.end()}, first == all.begin()};
    all.erase(first, all.end());
    return taken;
  }

 private:
  std::mutex mutex_;
  bins all_;
};

/// Bins of each thread that runs kernels. Between kernels, a thread may look at them all.
class pool_of_bins {
 public:
  /// Bins for one kernel, until the loan ends. They are the thread's own, so the loan takes no lock. A kernel
  /// that runs on top of another one gets further bins.
  class loan {
   public:
    explicit loan(pool_of_bins& from) : lent_(from.lend()) {}
    loan(const loan&) = delete;
    loan& operator=(const loan&) = delete;
    ~loan() { lent_.is_lent = false; }
    bins& operator*() const { return lent_.own; }
    bins* operator->() const { return &lent_.own; }

   private:
    friend pool_of_bins;
    struct lent {
      bins own;
      bool is_lent = false;  ///< only its thread reads and writes it
    };
    lent& lent_;
  };

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  bins& operator[](std::size_t index) { return all_[index]->own; }

 private:
  using lent = loan::lent;

  lent& lend() {
    struct of_thread {
      std::uint64_t pool = 0;
      std::vector<lent*> own;
    };
    thread_local of_thread here;
    if (here.pool != number_) here = {number_, {}};
    auto found = std::ranges::find(here.own, false, &lent::is_lent);
    if (found == here.own.end()) {
      const std::lock_guard lock(mutex_);
      found = here.own.insert(found, all_.emplace_back(std::make_unique<lent>()).get());
    }
    (*found)->is_lent = true;
    return **found;
  }

  static inline std::atomic<std::uint64_t> pools_ = 0;

  const std::uint64_t number_ = ++pools_;  ///< of all pools so far: another one may lie at the same address
  std::mutex mutex_;
  std::vector<std::unique_ptr<lent>> all_;
};

}  // namespace teff::apps::sssp
