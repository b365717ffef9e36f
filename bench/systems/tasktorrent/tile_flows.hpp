#pragma once

#include <tasktorrent/tasktorrent.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "teff/apps/cholesky.hpp"
#include "teff/apps/gemm.hpp"
#include "teff/apps/routes_of_tiles.hpp"

/// The tasks of the mini-apps on one rank. A task is named by its step, row and column, and fulfils a promise
/// of each task of its rank that waits for it. Other ranks with such tasks get its tile by `send(rank,
/// matrix, row, column)`, and call arrived() there.
class tile_flow {
 public:
  using key = std::array<int, 3>;
  using send_tile = std::function<void(int rank, int matrix, int row, int column)>;

  virtual ~tile_flow() = default;
  tile_flow(const tile_flow&) = delete;
  tile_flow& operator=(const tile_flow&) = delete;

  /// What does not wait for anything.
  virtual void begin() = 0;
  /// A tile of another rank is in its place.
  virtual void arrived(int matrix, int row, int column) = 0;
  /// The matrices whose tiles are sent.
  [[nodiscard]] virtual std::vector<const teff::apps::tiled_matrix*> matrices() const = 0;
  [[nodiscard]] virtual std::int64_t own_tasks() const = 0;

 protected:
  tile_flow(ttor::Threadpool& pool, send_tile send) : send_(std::move(send)), flow_(&pool) {
    // Tiles are dealt out to threads as the squares of a board; threads without work steal.
    flow_.set_mapping([threads = pool.size()](key task) { return (task[1] + task[2]) % threads; });
  }

  template <class Task>
  [[nodiscard]] static Task named(const key& task) {
    return {.step = task[0], .row = task[1], .column = task[2]};
  }
  template <class Task>
  void fulfill(const Task& task) {
    flow_.fulfill_promise({task.step, task.row, task.column});
  }
  [[nodiscard]] const send_tile& send() const { return send_; }
  [[nodiscard]] ttor::Taskflow<key>& flow() { return flow_; }

 private:
  send_tile send_;
  ttor::Taskflow<key> flow_;
};

class gemm_flow final : public tile_flow {
 public:
  using task = teff::apps::gemm::task;

  gemm_flow(const teff::apps::gemm& product, ttor::Threadpool& pool, send_tile to)
      : tile_flow(pool, std::move(to)), product_(product), routes_(product) {
    flow()
        .set_indegree([this](key which) {
          const auto t = named<task>(which);
          return product_.indegree(t) + routes_.awaited_by(t);
        })
        .set_priority([](key which) { return -which[2]; })  // a column of B stays in the cache
        .set_task([this](key which) { product_.execute(named<task>(which)); })
        .set_fulfill([this](key which) {
          const auto t = named<task>(which);
          const std::optional<task> next = product_.next(t);
          if (!next) return;
          if (product_.is_here(*next))
            fulfill(*next);
          else
            routes_.send_sum(send(), t, *next);
        });
  }

  void begin() override {
    routes_.send_own(send());
    product_.visit_first([this](const task& first) { fulfill(first); });
  }
  void arrived(int matrix, int row, int column) override {
    routes_.pass_on(send(), matrix, row, column);
    routes_.visit_readers(matrix, row, column, [this](const task& reader) { fulfill(reader); });
  }
  [[nodiscard]] std::vector<const teff::apps::tiled_matrix*> matrices() const override {
    return routes_.matrices();
  }
  [[nodiscard]] std::int64_t own_tasks() const override { return product_.own_tasks(); }

 private:
  const teff::apps::gemm& product_;
  teff::apps::routes_of_tiles routes_;
};

class cholesky_flow final : public tile_flow {
 public:
  using cholesky = teff::apps::cholesky;
  using task = cholesky::task;

  cholesky_flow(const cholesky& factors, ttor::Threadpool& pool, send_tile to)
      : tile_flow(pool, std::move(to)), factors_(factors) {
    flow()
        // The first one has a promise that begin() fulfils.
        .set_indegree([](key which) { return std::max(cholesky::indegree(named<task>(which)), 1); })
        .set_priority([](key which) { return cholesky::priority(named<task>(which)); })
        .set_task([this](key which) { factors_.execute(named<task>(which)); })
        .set_fulfill([this](key which) {
          const auto t = named<task>(which);
          if (!cholesky::makes_final(t)) {
            fulfill(cholesky::next(t));
            return;
          }
          for (const int rank : factors_.readers_elsewhere(t.row, t.column)) send()(rank, 0, t.row, t.column);
          arrived(0, t.row, t.column);
        });
  }

  void begin() override {
    if (constexpr task first{}; factors_.is_here(first)) fulfill(first);
  }
  void arrived(int /*matrix*/, int row, int column) override {
    factors_.readers(row, column, [this](const task& reader) {
      if (factors_.is_here(reader)) fulfill(reader);
    });
  }
  [[nodiscard]] std::vector<const teff::apps::tiled_matrix*> matrices() const override {
    return {&factors_.a()};
  }
  [[nodiscard]] std::int64_t own_tasks() const override { return factors_.own_tasks(); }

 private:
  const cholesky& factors_;
};
