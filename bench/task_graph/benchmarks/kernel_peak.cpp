// How near the kernels come to what this machine can do: compute_bound and compute_bound2 to the peak of
// multiply-adds at each instruction set, memory_bound to STREAM's copy. Run it with nothing else running.

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "references.hpp"
#include "report.hpp"
#include "teff/graphs/kernel.hpp"

namespace teff::graphs {
namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

struct options {
  int repeats = 101;
  double milliseconds = 2;
  std::int64_t scratch_mib = 256;
  bool json = false;
};

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

void pin_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

/// Operations that a piece of work did, given its iterations.
using work = std::function<std::int64_t(std::int64_t)>;

/// Iterations of `work` that take about `length`.
std::int64_t iterations_for(const work& work, seconds length) {
  for (std::int64_t iterations = 1000;; iterations *= 2) {
    const auto start = clock::now();
    work(iterations);
    if (const seconds took = clock::now() - start; took > length / 2)
      return std::max<std::int64_t>(
          static_cast<std::int64_t>(static_cast<double>(iterations) * (length / took)), 1);
  }
}

/// The rates of each work, one after the other `repeats` times, every other time in the opposite order.
std::vector<std::vector<double>> interleave(std::size_t works, int repeats,
                                            const std::function<double(std::size_t)>& measure) {
  std::vector<std::vector<double>> rates(works);
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (std::size_t i = 0; i < works; ++i) {
      const std::size_t next = repeat % 2 ? works - 1 - i : i;
      rates[next].push_back(measure(next));
    }
  return rates;
}

double rate_of(const work& work, std::int64_t iterations) {
  const auto start = clock::now();
  const std::int64_t operations = work(iterations);
  return static_cast<double>(operations) / seconds(clock::now() - start).count();
}

template <isa I>
work faster_peak(seconds length) {
  const std::vector<work> loops{fma_peak<I>::dependent, fma_peak<I>::independent};
  const auto rates = interleave(
      loops.size(), 9, [&](std::size_t i) { return rate_of(loops[i], iterations_for(loops[i], length)); });
  return spread_of(rates[0]).median > spread_of(rates[1]).median ? loops[0] : loops[1];
}

work peak_of(isa level, seconds length) {
#if defined(__x86_64__)
  if (level == isa::avx2) return faster_peak<isa::avx2>(length);
  if (level == isa::avx512) return faster_peak<isa::avx512>(length);
#endif
  return faster_peak<isa::baseline>(length);
}

work kernel_work(kernel_kind kind, isa level) {
  return [kind, run = select_kernel(kind, level)](std::int64_t iterations) {
    const kernel kernel{.kind = kind, .iterations = iterations};
    run(kernel, iterations, 0, {});
    return kernel.flops(iterations, 0);
  };
}

std::vector<comparison> compare_compute(const options& options) {
  pin_to(allowed_cores().front());
  const seconds length(options.milliseconds / 1000);
  std::vector<comparison> rows;
  for (const isa level : {isa::baseline, isa::avx2, isa::avx512}) {
    if (!supported(level)) continue;
    const std::vector<kernel_kind> kinds{kernel_kind::compute_bound, kernel_kind::compute_bound2};
    const std::vector<work> works{peak_of(level, length), kernel_work(kinds[0], level),
                                  kernel_work(kinds[1], level)};
    std::vector<std::int64_t> iterations(works.size());
    std::ranges::transform(works, iterations.begin(),
                           [&](const work& each) { return iterations_for(each, length); });
    const auto rates = interleave(works.size(), options.repeats,
                                  [&](std::size_t i) { return rate_of(works[i], iterations[i]); });
    for (std::size_t i = 0; i < kinds.size(); ++i)
      rows.push_back(compare(fmt::format("{} {}", name(kinds[i]), name(level)), rates[i + 1],
                             fmt::format("multiply-adds {}", name(level)), rates[0], 1));
  }
  return rows;
}

/// Copies one half of a scratch to the other, once.
using copy = std::function<void(std::span<std::byte>)>;

/// Runs one copy at a time on pinned threads, each in its own scratch.
class copy_team {
 public:
  copy_team(std::vector<int> cores, std::size_t scratch_bytes, std::vector<copy> copies)
      : bytes_(scratch_bytes),
        copies_(std::move(copies)),
        stamps_(cores.size()),
        begin_(static_cast<std::ptrdiff_t>(cores.size()) + 1),
        end_(static_cast<std::ptrdiff_t>(cores.size()) + 1) {
    for (std::size_t i = 0; i < cores.size(); ++i)
      threads_.emplace_back([this, core = cores[i], i] { work(core, stamps_[i]); });
  }

  ~copy_team() {
    chosen_ = nullptr;
    begin_.arrive_and_wait();
  }

  copy_team(const copy_team&) = delete;
  copy_team& operator=(const copy_team&) = delete;

  /// Bytes read and written a second, from the first thread's start to the last one's end.
  double rate(std::size_t which) {
    chosen_ = &copies_[which];
    begin_.arrive_and_wait();
    end_.arrive_and_wait();
    const auto first = std::ranges::min(stamps_, {}, &stamp::start).start;
    const auto last = std::ranges::max(stamps_, {}, &stamp::stop).stop;
    return static_cast<double>(bytes_ * stamps_.size()) / seconds(last - first).count();
  }

 private:
  struct stamp {
    clock::time_point start, stop;
  };

  void work(int core, stamp& mine) {
    pin_to(core);
    struct alignas(4096) page {
      std::byte bytes[4096];
    };
    const std::unique_ptr<page[]> pages(new page[bytes_ / sizeof(page)]);  // not yet touched
    const std::span scratch(pages[0].bytes, bytes_);
    prepare_scratch(scratch);
    for (;;) {
      begin_.arrive_and_wait();
      if (!chosen_) return;
      mine.start = clock::now();
      (*chosen_)(scratch);
      mine.stop = clock::now();
      end_.arrive_and_wait();
    }
  }

  std::size_t bytes_;
  std::vector<copy> copies_;
  std::vector<stamp> stamps_;
  const copy* chosen_ = nullptr;
  std::barrier<> begin_, end_;
  std::vector<std::jthread> threads_;
};

copy whole_scratch(void (*function)(double*, const double*, std::size_t)) {
  return [function](std::span<std::byte> scratch) {
    auto* first = reinterpret_cast<double*>(scratch.data());
    const std::size_t half = scratch.size() / sizeof(double) / 2;
    function(first + half, first, half);
  };
}

copy memory_bound(isa level) {
  return [run = select_kernel(kernel_kind::memory_bound, level)](std::span<std::byte> scratch) {
    const kernel kernel{.kind = kernel_kind::memory_bound, .iterations = 16, .samples = 16};
    run(kernel, kernel.iterations, 0, scratch);  // all of the scratch
  };
}

std::vector<comparison> compare_memory(const options& options, const std::vector<int>& cores) {
  std::vector<copy> copies{whole_scratch(stream_copy_compiled), whole_scratch(stream_copy_streaming)};
  std::vector<std::string> names{"STREAM copy, compiled", "STREAM copy, streaming"};
  const std::size_t references = copies.size();
  for (const isa level : {isa::baseline, isa::avx2, isa::avx512})
    if (supported(level)) {
      copies.push_back(memory_bound(level));
      names.push_back(fmt::format("memory_bound {}", name(level)));
    }
  const auto bytes = static_cast<std::size_t>(options.scratch_mib) << 20;
  copy_team team(cores, bytes, copies);
  const auto rates = interleave(copies.size(), options.repeats, [&](std::size_t i) { return team.rate(i); });
  std::vector<comparison> rows;
  for (std::size_t i = references; i < copies.size(); ++i)
    for (std::size_t j = 0; j < references; ++j)
      rows.push_back(compare(names[i], rates[i], names[j], rates[j], static_cast<int>(cores.size())));
  return rows;
}

int run(const options& options) {
  const std::vector<int> cores = allowed_cores();
  std::vector<comparison> compute, memory;
  memory = compare_memory(options, {cores.front()});
  if (cores.size() > 1) {
    const auto more = compare_memory(options, cores);
    memory.insert(memory.end(), more.begin(), more.end());
  }
  compute = compare_compute(options);
  if (options.json)
    fmt::print("{{\"repeats\":{},\"scratch_bytes\":{},\"compute\":{},\"memory\":{}}}\n", options.repeats,
               options.scratch_mib << 20, as_json(compute), as_json(memory));
  else
    fmt::print("{} interleaved repeats, {} MiB a thread\n\n{}\n{}", options.repeats, options.scratch_mib,
               as_table(compute, "GFLOP/s"), as_table(memory, "GB/s"));
  return 0;
}

}  // namespace
}  // namespace teff::graphs

int main(int argc, char** argv) {
  teff::graphs::options options;
  teff::bench::flag_parser flags("How near the kernels come to the peak of this machine");
  flags.add("--repeats", options.repeats, "pairs of measurements [101]").within(1, 100000);
  flags.add("--milliseconds", options.milliseconds, "length of a measurement of compute kernels [2]")
      .within(0.01, 10000.0);
  flags
      .add("--scratch-mib", options.scratch_mib,
           "memory of each thread; STREAM wants 8 times the last-level cache [256]")
      .within(std::int64_t{1}, std::int64_t{1} << 20);
  flags.add_switch("--json", options.json, "one JSON object in the place of tables");
  if (const auto code = teff::graphs::read_command(flags, argc, argv)) return *code;
  return teff::graphs::run(options);
}
