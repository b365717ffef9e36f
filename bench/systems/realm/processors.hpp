#pragma once

#include <realm.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "teff/bench/cores.hpp"

/// Realm itself, with a processor a worker: a thread that runs tasks, and changes to another task's stack
/// while one waits for an event. It lives as long as the program.
class processors {
  static constexpr Realm::Processor::TaskFuncID waiting_task = Realm::Processor::TASK_ID_FIRST_AVAILABLE;

 public:
  static constexpr Realm::Processor::TaskFuncID first_free_task = waiting_task + 1;

  explicit processors(int workers) {
    // Realm takes its flags out of a command line; this program's flags are not for Realm. There are no
    // threads but the workers': a processor that is idle looks after what Realm has to do in the background
    // instead, 10 us at a time. It then polls instead of going to sleep at once. Left unsaid: that there are
    // no GPUs, and fewer cores than workers. The rest must not come between records.
    std::vector<std::string> words{
        "realm", "-ll:cpu", std::to_string(workers), "-ll:util", "0",     "-ll:bgwork", "0", "-ll:cpu_bgwork",
        "10",    "-level",  "gpu=6,threads=5",       "-logfile", "stderr"};
    std::vector<char*> flags;
    for (auto& word : words) flags.push_back(word.data());
    int count = static_cast<int>(flags.size());
    flags.push_back(nullptr);
    char** argv = flags.data();
    runtime_.init(&count, &argv);
    Realm::Machine::ProcessorQuery cores(Realm::Machine::get_machine());
    cores.only_kind(Realm::Processor::LOC_PROC);
    all_.assign(cores.begin(), cores.end());
    add_task(waiting_task, wait_for_another);
    std::vector<Realm::Event> waited;
    for (const Realm::Processor each : all_) waited.push_back(each.spawn(waiting_task, nullptr, 0));
    Realm::Event::merge_events(waited).external_wait();
  }
  ~processors() {
    runtime_.shutdown();
    runtime_.wait_for_shutdown();
  }
  processors(const processors&) = delete;
  processors& operator=(const processors&) = delete;

  [[nodiscard]] int count() const { return static_cast<int>(all_.size()); }
  [[nodiscard]] const std::vector<Realm::Processor>& all() const { return all_; }
  [[nodiscard]] Realm::Processor of(int worker) const { return all_[static_cast<std::size_t>(worker)]; }

  /// Makes a function known to all processors. It is given the worker's number as its user data.
  void add_task(Realm::Processor::TaskFuncID id, Realm::Processor::TaskFuncPtr function) const {
    for (int worker = 0; worker < count(); ++worker)
      of(worker)
          .register_task(id, Realm::CodeDescriptor(function), Realm::ProfilingRequestSet(), &worker,
                         sizeof worker)
          .external_wait();
  }
  [[nodiscard]] static int worker_of(const void* user_data) { return *static_cast<const int*>(user_data); }

  [[nodiscard]] static std::string version() {
    return std::string("Realm ") + Realm::Runtime::get_library_version();
  }

 private:
  /// A processor's first wait of a task takes 70 ms. That must not be in a run.
  static void wait_for_another(const void*, std::size_t, const void*, std::size_t, Realm::Processor here) {
    here.spawn(Realm::Processor::TASK_ID_PROCESSOR_NOP, nullptr, 0).wait();
  }

  Realm::Runtime runtime_;
  std::vector<Realm::Processor> all_;
};
