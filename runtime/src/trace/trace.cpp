#include "trace/trace.hpp"

#include <teff/error.hpp>

#include "platform/digest.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <tuple>

namespace teff::detail {

namespace {

// The path of the `number`-th trace of this process.
std::string path_of(const std::string& pattern, unsigned number) {
  std::string path = pattern;
  const std::string process = std::to_string(::getpid());
  for (auto at = path.find("%p"); at != std::string::npos; at = path.find("%p", at + process.size()))
    path.replace(at, 2, process);
  if (number > 1) {
    const auto name = path.rfind('/') + 1;  // npos + 1 is 0
    const auto dot = path.rfind('.');
    path.insert(dot == std::string::npos || dot < name ? path.size() : dot, "." + std::to_string(number));
  }
  return std::filesystem::absolute(path).string();
}

// Makes an empty file, and returns its path. Throws invalid_option if it can't be written.
std::string make_file(const std::string& pattern, const char* option) {
  static std::atomic<unsigned> traces{0};
  auto number = ++traces;
  auto path = path_of(pattern, number);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> empty(std::fopen(path.c_str(), "we"), &std::fclose);
  if (empty == nullptr) {
    const std::string reason = std::strerror(errno);
    traces.compare_exchange_strong(
        number, number - 1);  // the next trace gets this number, if none was made meanwhile
    throw invalid_option(std::string(option) + "=" + pattern + ": the trace can't be written to " + path +
                         ": " + reason + "; name a file in a folder that is there and may be written to");
  }
  return path;
}

// A question about the clock, with rank 0's answer. The path of rank 0's trace follows.
struct clock_card {
  std::int64_t asked;    // by the clock of the rank that asks
  std::int64_t now;      // by rank 0's clock
  std::uint64_t clock;   // clock_identity()
  std::uint64_t number;  // of the job
};

template <class T>
std::string as_bytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Two processes with the same identity read the same clock: they are on one machine, and no container has
// moved the clock of either.
std::uint64_t clock_identity() {
  std::string words;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> words;
  struct stat moved_by{};
  if (::stat("/proc/self/ns/time", &moved_by) == 0) words += " " + std::to_string(moved_by.st_ino);
  return digest_of(words);
}

// The job of this process, for traces without a communicator. `mutex` guards it.
struct told_job {
  std::mutex mutex;
  process_job job;
};
constinit told_job told;

}  // namespace

void record_spawn(trace_ring& ring) noexcept {
  trace_ring::count(ring.spawned);
}

void record(trace_ring& ring, event_kind what, const char* name, std::uint64_t began,
            std::uint32_t other) noexcept {
  ring.add({.began = began, .ended = ticks::now(), .name = name, .other = other, .what = what});
}

std::uint64_t ticks_now() noexcept {
  return ticks::now();
}

void belong_to_job(const process_job& job) noexcept {
  const std::lock_guard lock(told.mutex);
  if (told.job.ranks == 1) told.job = job;
}

std::vector<trace_event> trace_ring::in_order() const {
  const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(added_, capacity_));
  const auto event = [&](std::size_t age) -> const trace_event& {
    return events_[(next_ + capacity_ - age) % capacity_];
  };
  // If two events begin and end in one tick, the outer one was added later.
  std::vector<std::tuple<std::uint64_t, std::uint64_t, std::size_t>> order;
  order.reserve(kept);
  for (std::size_t age = 1; age <= kept; ++age) order.emplace_back(event(age).began, ~event(age).ended, age);
  std::ranges::sort(order);
  std::vector<trace_event> events;
  events.reserve(kept);
  for (const auto& each : order) events.push_back(event(std::get<2>(each)));
  return events;
}

trace::trace(const std::string& path, const char* option, unsigned workers, std::size_t events_per_worker)
    : path_(make_file(path, option)),
      number_(std::uint64_t{std::random_device()()} << 32 | std::random_device()()) {
  for (unsigned i = 0; i < workers; ++i) rings_.push_back(std::make_unique<trace_ring>(events_per_worker, i));
}

// ---- Of several ranks ----

void trace::belong_to(int rank, int ranks) {
  const std::lock_guard lock(mutex_);
  if (ranks_ > 1) return;
  rank_ = rank;
  ranks_ = ranks;
}

void trace::add_messages(const std::string& whose, const message_counters& all) {
  const std::lock_guard lock(mutex_);
  messages_.emplace_back(whose, all);
}

std::string trace::clock_question(bool begins) {
  const std::lock_guard lock(mutex_);
  if (rank_ == 0) return {};
  if (begins) clock_.begin_series();
  return clock_.lacks_trip() ? as_bytes(steady_nanoseconds()) : std::string();
}

std::string trace::clock_answer(std::string_view question) const {
  clock_card card{};
  std::memcpy(&card.asked, question.data(), std::min(question.size(), sizeof card.asked));
  card.now = steady_nanoseconds();
  card.clock = clock_identity();
  card.number = number_;
  return as_bytes(card) + path_;
}

void trace::take_clock_answer(std::string_view answer) {
  const auto now = steady_nanoseconds();
  clock_card card{};
  const std::lock_guard lock(mutex_);
  if (answer.size() < sizeof card) return clock_.end_series();  // rank 0 has no trace
  std::memcpy(&card, answer.data(), sizeof card);
  clock_.add({card.asked, card.now, now}, card.clock == clock_identity());
  number_of_rank_0_ = card.number;
  path_of_rank_0_ = answer.substr(sizeof card);
}

// Without a communicator, the trace knows no more than the process does. Then all ranks write to the path
// that they were given.
void trace::take_job_of_process() {
  const std::lock_guard lock(told.mutex);
  if (ranks_ > 1 || told.job.ranks == 1) return;
  rank_ = told.job.rank;
  ranks_ = told.job.ranks;
  number_of_rank_0_ = told.job.number;
  path_of_rank_0_ = path_;
  if (told.job.on_one_node) clock_.share();
}

}  // namespace teff::detail
