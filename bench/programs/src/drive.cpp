#include "teff/bench/drive.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <climits>
#include <optional>
#include <string>
#include <utility>

#include "programs_benchmark.hpp"
#include "teff/bench/failure.hpp"
#include "teff/bench/measure.hpp"
#include "teff/bench/memory.hpp"
#include "teff/programs/drive.hpp"
#include "teff/programs/work.hpp"

namespace teff::programs {
namespace {

using bench::json;

/// The process keeps freed memory under every system. Otherwise memory that a program frees and allocates
/// again would cause page faults, the more the more threads have their own arenas.
void keep_freed_memory() {
  constexpr int largest_threshold = 32 << 20;
  mallopt(M_MMAP_THRESHOLD, largest_threshold);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

std::string hexadecimal(std::uint64_t value) {
  return fmt::format("0x{:016x}", value);
}

/// Runs the loaded program, and puts the results into the record.
void measure(program_runner& system, std::uint64_t expected, bench::record& run) {
  std::int64_t peak_bytes = 0;
  bench::measurement measured = bench::measure([&](bench::region_meter& region) {
    bench::reset_peak_resident();
    region.start();
    system.run();
    region.stop();
    peak_bytes = bench::peak_resident_bytes();
  });
  measured.peak_resident_bytes = peak_bytes;
  const std::uint64_t found = system.checksum();
  if (found != expected) run.error = "wrong result: it is not that of one thread";
  measured.validation = {
      {"passed", run.error.empty()}, {"checksum", hexadecimal(found)}, {"expected", hexadecimal(expected)}};
  run.measured = std::move(measured);
}

/// A system that runs one program after the other.
class runner_of_programs final : public bench::runner {
 public:
  explicit runner_of_programs(std::unique_ptr<program_runner> system) : system_(std::move(system)) {}

  [[nodiscard]] bench::identity describe() const override { return system_->describe(); }
  [[nodiscard]] bench::ranks& processes() override { return this_one_; }
  void prepare(const bench::flags& of_run) override {
    const work asked = parse_work(of_run);
    if (asked_ && asked_->what.name == asked.what.name && asked_->size == asked.size) {
      if (is_there_) system_->reset();
      return;
    }
    asked_.reset();
    expected_ = expected_checksum(asked);
    is_there_ = system_->load(asked);
    asked_ = asked;
  }
  [[nodiscard]] bench::answer run() override {
    bench::record run{.who = describe()};
    const description& what = asked_->what;
    run.own["program"] = what.name;
    run.own["way"] = name(what.needs);
    run.own["size"] = asked_->size;
    run.own["unit"] = what.unit;
    run.lacks = !is_there_;
    if (run.lacks) run.error = fmt::format("it has no {}", name(what.needs));
    if (run.error.empty()) try {
        measure(*system_, expected_, run);
      } catch (const std::exception& failure) {
        run.error = bench::reason_of(failure);
      }
    return {.said = std::move(run)};
  }

 private:
  std::unique_ptr<program_runner> system_;
  std::optional<work> asked_;  // the loaded work
  std::uint64_t expected_ = 0;
  bool is_there_ = false;
  bench::ranks this_one_;
};

}  // namespace

int drive(int argc, char** argv, linked_system system) {
  keep_freed_memory();
  const auto start = [&](int workers) { return std::make_unique<runner_of_programs>(system.start(workers)); };
  return bench::drive(argc, argv, programs_benchmark(), start, system.default_workers());
}

}  // namespace teff::programs
