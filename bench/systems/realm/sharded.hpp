#pragma once

#include <realm.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "execution.hpp"
#include "teff/bench/cores.hpp"
#include "teff/graphs/adapter.hpp"

/// Runs workloads by shards. The first processor of each has a task that spawns for all of them. Made before
/// the time begins, a shard has
///
///   Shard(execution& run, int number);
///   static constexpr const char* variant;
///   void run_all();                        returns when all its tasks have run.
template <class Shard>
class sharded final : public teff::graphs::adapter {
 public:
  explicit sharded(int workers) : all_(workers) {
    all_.add_task(gate_task, wait_and_run);
    all_.add_task(point_task, execute_point);
  }

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "realm",
            .variant = Shard::variant,
            .version = processors::version(),
            .workers = all_.count()};
  }

  void run(teff::graphs::workload& work) override {
    execution run(work, all_);
    execution* const here = &run;
    std::vector<Realm::Event> gates;
    for (int worker = 0; worker < all_.count(); ++worker)
      gates.push_back(all_.of(worker).spawn(gate_task, &here, sizeof here));
    run.waiting.wait();
    work.start();
    run.open.count_down();
    Realm::Event::merge_events(gates).external_wait();
    work.stop();
  }

 private:
  static void wait_and_run(const void* arguments, std::size_t, const void* user_data, std::size_t,
                           Realm::Processor) {
    execution& run = **static_cast<execution* const*>(arguments);
    const int worker = processors::worker_of(user_data);
    std::optional<Shard> here;
    if (worker % processors_of_a_shard == 0) here.emplace(run, worker / processors_of_a_shard);
    teff::bench::bind_to_core(worker);
    run.waiting.count_down();
    run.open.wait();
    if (here) here->run_all();
  }

  processors all_;
};
