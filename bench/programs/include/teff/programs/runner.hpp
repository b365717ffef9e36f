#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "teff/bench/cores.hpp"
#include "teff/bench/identity.hpp"
#include "teff/programs/catalogue.hpp"
#include "teff/programs/ways.hpp"

namespace teff::programs {

/// A program and the size of its input.
struct work {
  description what;
  std::int64_t size = 0;
};

/// A program with its input, ready to run on one system.
template <class System>
class loaded_program {
 public:
  loaded_program() = default;
  loaded_program(const loaded_program&) = delete;
  loaded_program& operator=(const loaded_program&) = delete;
  virtual ~loaded_program() = default;

  /// Makes the input again, if a run changed it.
  virtual void reset() = 0;
  virtual void run(System& system) = 0;
  [[nodiscard]] virtual std::uint64_t checksum() const = 0;
};

template <class System, class Program>
class loaded final : public loaded_program<System> {
 public:
  explicit loaded(std::int64_t size) : program_(size) {}
  void reset() override {
    if constexpr (requires { program_.reset(); }) program_.reset();
  }
  void run(System& system) override { program_.run(system); }
  [[nodiscard]] std::uint64_t checksum() const override { return program_.checksum(); }

 private:
  Program program_;
};

/// Whether a system has a way to be parallel.
template <class System, way Way>
[[nodiscard]] constexpr bool has_way() {
  switch (Way) {
    case way::fork_join:
      return has_fork_join<System>;
    case way::loops:
      return has_loops<System>;
    case way::graphs:
      return has_graphs<System>;
    case way::pipelines:
      return has_pipelines<System>;
    case way::requests:
      return has_requests<System>;
  }
  return false;
}

/// Null if the system has no way to run it.
template <class System>
[[nodiscard]] std::unique_ptr<loaded_program<System>> load(const work& asked) {
  std::unique_ptr<loaded_program<System>> made;
  with_program(asked.what.name, [&]<class Program>() {
    if constexpr (has_way<System, Program::about.needs>())
      made = std::make_unique<loaded<System, Program>>(asked.size);
  });
  return made;
}

/// A system that runs programs.
class program_runner {
 public:
  program_runner() = default;
  program_runner(const program_runner&) = delete;
  program_runner& operator=(const program_runner&) = delete;
  virtual ~program_runner() = default;

  [[nodiscard]] virtual bench::identity describe() const = 0;
  /// Makes the program's input. False if the system has no way to run it.
  [[nodiscard]] virtual bool load(const work& asked) = 0;
  /// Makes the input again, if a run changed it.
  virtual void reset() = 0;
  /// Runs the loaded program, on the calling thread and the system's workers.
  virtual void run() = 0;
  /// Of the last run's result.
  [[nodiscard]] virtual std::uint64_t checksum() const = 0;
};

/// The runner of a system that ways.hpp describes.
template <class System>
class program_runner_of final : public program_runner {
 public:
  explicit program_runner_of(int workers) : system_(workers) {}
  [[nodiscard]] bench::identity describe() const override { return system_.describe(); }
  [[nodiscard]] bool load(const work& asked) override {
    program_.reset();  // before the next one takes memory
    program_ = programs::load<System>(asked);
    return program_ != nullptr;
  }
  void reset() override { program_->reset(); }
  void run() override { program_->run(system_); }
  [[nodiscard]] std::uint64_t checksum() const override { return program_->checksum(); }

 private:
  System system_;
  std::unique_ptr<loaded_program<System>> program_;
};

/// How many workers a system gets if the flags name no number.
template <class System>
[[nodiscard]] int default_workers() {
  if constexpr (requires { System::default_workers(); }) {
    return System::default_workers();
  } else {
    return bench::usable_cores();
  }
}

/// The system that a program is linked with: adapter.cpp compiles them for each.
struct linked_system {
  std::unique_ptr<program_runner> (*start)(int workers);
  int (*default_workers)();
};
[[nodiscard]] linked_system this_system();

}  // namespace teff::programs
