// The time and memory of a task graph in which many keys wait at a time. Each key gets the first of two
// fulfilments before any key gets the second, in random orders.
//
//   teff_waiting_keys [KEYS [WORKERS]]     10^5, 10^6 and 10^7 keys on 1 and on 2 workers by default
#include <teff/task_graph.hpp>

#include "platform/ticks.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
using key = std::uint32_t;
enum class counted { placed, unplaced, numbered };

double resident_bytes() {
  long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

// The tasks of one worker, and its longest call of fulfill() in each round.
struct alignas(64) seen {
  std::uint64_t tasks = 0;
  std::array<std::uint64_t, 2> longest{};
};

// The keys below `keys` wait. Each key from there on is a task that fulfils a thousand of them. So a worker
// looks for messages between these tasks.
class measurement {
 public:
  measurement(key keys, unsigned workers, counted by)
      : keys_(keys),
        workers_(workers),
        parts_((keys + part - 1) / part),
        first_parts_(std::min(parts_, workers)),
        rt_{{.workers = workers}},
        graph_(rt_),
        seen_(workers) {
    std::mt19937 random(1);
    for (auto& each : order_) {
      each.resize(keys);
      std::iota(each.begin(), each.end(), 0);
      std::shuffle(each.begin(), each.end(), random);
    }
    graph_
        .indegree([this](key k) {
          if (k < keys_) return 2;
          return k - keys_ >= parts_ && k - keys_ < parts_ + first_parts_ ? static_cast<int>(first_parts_)
                                                                          : 1;
        })
        .place([this, by](key k) {
          if (by != counted::placed) return teff::anywhere;
          return (k < keys_ ? k : (k - keys_) % parts_) % workers_;
        })
        .body([this](key k) {
          if (k < keys_) {
            ++seen_[*teff::worker_index()].tasks;
          } else {
            run_part((k - keys_) / parts_, (k - keys_) % parts_);
          }
        });
    if (by == counted::numbered) graph_.dense(std::size_t{keys_} + 2 * parts_);
  }

  bool run(const char* what) {
    const double before = resident_bytes();
    const auto ticks_before = teff::detail::ticks::now();
    const auto began = clock_type::now();
    for (key each = 0; each < first_parts_; ++each) graph_.fulfill(keys_ + each);
    graph_.wait();
    const auto ended = clock_type::now();
    const auto ticks = static_cast<double>(teff::detail::ticks::now() - ticks_before);
    const auto microseconds = [](auto from, auto to) {
      return std::chrono::duration<double, std::micro>(to - from).count();
    };
    const double a_tick = microseconds(began, ended) / ticks;
    const auto longest = [&](std::size_t round) {
      std::uint64_t most = 0;
      for (const auto& each : seen_) most = std::max(most, each.longest[round]);
      return static_cast<double>(most) * a_tick / 1e3;
    };
    std::uint64_t tasks = 0;
    for (const auto& each : seen_) tasks += each.tasks;
    const double each = 1e3 * workers_ / keys_;
    std::printf(
        "%-9s %8u keys %u workers: %4.0f and %4.0f ns of a worker a fulfilment, the longest %.2f and %.2f "
        "ms; "
        "%.0f bytes a waiting key\n",
        what, keys_, workers_, each * microseconds(began, turned_), each * microseconds(turned_, ended),
        longest(0), longest(1), (resident_at_turn_ - before) / keys_);
    return tasks == keys_;
  }

 private:
  void run_part(key round, key number) {
    if (round == 1 && number == 0) {
      turned_ = clock_type::now();
      resident_at_turn_ = resident_bytes();
    }
    // Fulfilled before the keys, the next part runs after the tasks that become ready here. So few tasks lie
    // ready at a time.
    if (round == 1) fulfill_next_part(round, number);
    auto& longest = seen_[*teff::worker_index()].longest[round];
    const key end = std::min(keys_, (number + 1) * part);
    for (key i = number * part; i < end; ++i) {
      const auto began = teff::detail::ticks::now();
      graph_.fulfill(order_[round][i]);
      longest = std::max<std::uint64_t>(longest, teff::detail::ticks::now() - began);
    }
    if (round == 0) fulfill_next_part(round, number);
  }

  void fulfill_next_part(key round, key number) {
    if (number + workers_ < parts_) {
      graph_.fulfill(keys_ + round * parts_ + number + workers_);
    } else if (round == 0) {
      for (key each = 0; each < first_parts_; ++each) graph_.fulfill(keys_ + parts_ + each);
    }
  }

  static constexpr key part = 1000;

  const key keys_;
  const unsigned workers_;
  const key parts_;
  const key first_parts_;
  std::array<std::vector<key>, 2> order_;
  teff::runtime rt_;
  teff::task_graph<key> graph_;
  std::vector<seen> seen_;
  clock_type::time_point turned_;
  double resident_at_turn_ = 0;
};

// Runs in a new process, whose memory no other measurement has used.
bool measure(const char* what, key keys, unsigned workers, counted by) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool right = measurement(keys, workers, by).run(what);
    std::fflush(stdout);
    ::_exit(right ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<key> sizes{100'000, 1'000'000, 10'000'000};
  std::vector<unsigned> workers{1, 2};
  if (argc > 1) sizes = {static_cast<key>(std::max(std::atol(argv[1]), 1L))};
  if (argc > 2) workers = {static_cast<unsigned>(std::max(std::atoi(argv[2]), 1))};
  bool right = true;
  for (const unsigned each : workers) {
    for (const key keys : sizes) {
      right &= measure("placed", keys, each, counted::placed);
      right &= measure("unplaced", keys, each, counted::unplaced);
      right &= measure("numbered", keys, each, counted::numbered);
    }
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
