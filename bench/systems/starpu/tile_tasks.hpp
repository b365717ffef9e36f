#pragma once

#include <starpu.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "session.hpp"
#include "teff/apps/system.hpp"

/// The mini-apps, submitted task by task in a serial order. StarPU sees from the tiles that a task reads and
/// writes which tasks it has to wait for. How a task is handed to StarPU, a class says that derives from
/// this.
class tile_tasks : public teff::apps::whole_system {
 public:
  teff::apps::counts run(teff::apps::gemm& product, teff::bench::region_meter& region) final {
    using task = teff::apps::gemm::task;
    const tiles a(*this, product.at(), product.a());
    const tiles b(*this, product.at(), product.b());
    std::vector<tiles> sums;
    sums.reserve(static_cast<std::size_t>(product.layers()));
    for (int layer = 0; layer < product.layers(); ++layer)
      sums.emplace_back(*this, product.at(), product.sum(layer), layer);
    const auto sum_of = [&](int layer, const task& t) {
      return sums[static_cast<std::size_t>(layer)].at(t.row, t.column);
    };
    timed(region, [&] {
      product.visit_in_order([&](const task& t) {
        const auto& [step, row, column] = t;
        const starpu_data_handle_t own = sum_of(product.layer(t), t);
        if (!product.is_product(t))
          submit(work::add, {{own, STARPU_RW}, {sum_of(product.added_layer(t), t), STARPU_R}}, -step);
        else if (step < product.layers())
          submit(work::multiply,
                 {{own, STARPU_W}, {a.at(row, step), STARPU_R}, {b.at(step, column), STARPU_R}}, -step);
        else
          submit(work::add_product,
                 {{own, STARPU_RW}, {a.at(row, step), STARPU_R}, {b.at(step, column), STARPU_R}}, -step);
      });
    });
    return {.tasks = product.own_tasks()};
  }

  teff::apps::counts run(teff::apps::cholesky& factors, teff::bench::region_meter& region) final {
    using teff::apps::cholesky;
    const tiles a(*this, factors.at(), factors.a(), 0, part::lower);
    timed(region, [&] {
      factors.visit_in_order([&](const cholesky::task& t) {
        const auto& [step, row, column] = t;
        const int priority = cholesky::priority(t);
        const starpu_data_descr own{a.at(row, column), STARPU_RW};
        if (row == step)
          submit(work::factorise, {own}, priority);
        else if (column == step)
          submit(work::solve, {own, {a.at(step, step), STARPU_R}}, priority);
        else if (row == column)
          submit(work::subtract_square, {own, {a.at(row, step), STARPU_R}}, priority);
        else
          submit(work::subtract_product, {own, {a.at(row, step), STARPU_R}, {a.at(column, step), STARPU_R}},
                 priority);
      });
    });
    return {.tasks = factors.own_tasks()};
  }

 protected:
  /// The work of a task on the first of its tiles.
  enum class work : int { multiply, add_product, add, factorise, solve, subtract_square, subtract_product };

  tile_tasks() {
    codelet_.where = STARPU_CPU;
    codelet_.cpu_funcs[0] = execute;
    codelet_.nbuffers = STARPU_VARIABLE_NBUFFERS;
    codelet_.name = "tile";
  }

  [[nodiscard]] starpu_codelet& codelet() { return codelet_; }

  /// The tile is `owner`'s.
  virtual void is_of(starpu_data_handle_t /*tile*/, int /*owner*/) {}
  virtual void insert(work what, std::span<starpu_data_descr> accesses, int priority) = 0;
  virtual void wait() = 0;

  /// The time is that of a call which submits tasks, until they have run.
  template <class Submit>
  void timed(teff::bench::region_meter& region, Submit submit_all) {
    const awake workers;
    region.start();
    submit_all();
    wait();
    region.stop();
  }

 private:
  enum class part : int { whole, lower };

  /// A matrix's tiles as StarPU's handles.
  class tiles {
   public:
    tiles(tile_tasks& tasks, const teff::apps::setting& at, const teff::apps::tiled_matrix& of, int layer = 0,
          part which = part::whole)
        : count_(of.blocks().count()) {
      for (int column = 0; column < count_; ++column)
        for (int row = 0; row < count_; ++row) {
          starpu_data_handle_t& handle = handles_.emplace_back(nullptr);
          if (which == part::lower && row < column) continue;
          const auto each = of.at(row, column);
          const int owner = at.grid.owner(row, column, layer);
          const auto rows = static_cast<std::uint32_t>(each.rows);
          starpu_matrix_data_register(&handle, owner == at.rank ? STARPU_MAIN_RAM : -1,
                                      reinterpret_cast<std::uintptr_t>(each.data), rows, rows,
                                      static_cast<std::uint32_t>(each.columns), sizeof(double));
          tasks.is_of(handle, owner);
        }
    }
    tiles(tiles&&) = default;
    ~tiles() {
      for (starpu_data_handle_t each : handles_)
        if (each) starpu_data_unregister(each);
    }

    [[nodiscard]] starpu_data_handle_t at(int row, int column) const {
      return handles_[static_cast<std::size_t>(column) * static_cast<std::size_t>(count_) +
                      static_cast<std::size_t>(row)];
    }

   private:
    int count_;
    std::vector<starpu_data_handle_t> handles_;
  };

  void submit(work what, std::vector<starpu_data_descr> accesses, int priority) {
    insert(what, std::span(accesses), priority);
  }

  static void execute(void* buffers[], void* argument) {
    namespace kernels = teff::apps::kernels;
    work what{};
    starpu_codelet_unpack_args(argument, &what);
    const auto tile = [&](int which) -> teff::apps::tile {
      void* const of = buffers[which];
      return {reinterpret_cast<double*>(STARPU_MATRIX_GET_PTR(of)),
              static_cast<int>(STARPU_MATRIX_GET_NX(of)), static_cast<int>(STARPU_MATRIX_GET_NY(of)),
              static_cast<int>(STARPU_MATRIX_GET_LD(of))};
    };
    switch (what) {
      case work::multiply:
        return kernels::multiply(tile(1), tile(2), tile(0), false);
      case work::add_product:
        return kernels::multiply(tile(1), tile(2), tile(0), true);
      case work::add:
        return kernels::add(tile(1), tile(0));
      case work::factorise:
        return kernels::factorise(tile(0));
      case work::solve:
        return kernels::solve(tile(1), tile(0));
      case work::subtract_square:
        return kernels::subtract_square(tile(1), tile(0));
      case work::subtract_product:
        return kernels::subtract_product(tile(1), tile(2), tile(0));
    }
  }

  starpu_codelet codelet_{};
};
