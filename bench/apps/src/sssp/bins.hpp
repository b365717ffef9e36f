#pragma once

#include <algorithm>
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

/// As many bins as kernels run at the same time. Between kernels, a thread may look at them all.
class pool_of_bins {
 public:
  /// Bins that no other thread has until the loan ends.
  class loan {
   public:
    explicit loan(pool_of_bins& from) : pool_(from), lent_(from.lend()) {}
    loan(const loan&) = delete;
    loan& operator=(const loan&) = delete;
    ~loan() { pool_.take_back(lent_); }
    bins& operator*() const { return *lent_; }
    bins* operator->() const { return lent_; }

   private:
    pool_of_bins& pool_;
    bins* lent_;
  };

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  bins& operator[](std::size_t index) { return *all_[index]; }

 private:
  bins* lend() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      free_.reserve(all_.size() + 1);  // take_back() does not throw
      all_.push_back(std::make_unique<bins>());
      return all_.back().get();
    }
    bins* const last = free_.back();
    free_.pop_back();
    return last;
  }
  void take_back(bins* lent) {
    const std::lock_guard lock(mutex_);
    free_.push_back(lent);
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<bins>> all_;
  std::vector<bins*> free_;
};

}  // namespace teff::apps::sssp
