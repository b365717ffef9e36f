#include "trace/trace.hpp"

#include <teff/error.hpp>

#include "platform/host_name.hpp"
#include "trace/trace_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>

namespace teff::detail {

namespace {

constexpr std::array<const char*, 12> event_names{"task",      "run",      "loop",    "waiting",
                                                  "searching", "parked",   "handler", "send",
                                                  "steal",     "exposure", "wake",    "message"};

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

// The type in a compiler's spelling of spelling_of<T>(): "... [with T = TYPE]" or "... [T = TYPE]".
std::string_view type_in(std::string_view spelling) {
  constexpr std::string_view before = "T = ";
  const auto start = spelling.find(before);
  if (start == std::string_view::npos || spelling.back() != ']') return spelling;
  spelling.remove_suffix(1);
  return spelling.substr(start + before.size());
}

std::string in_quotes(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return json + '"';
}

// A question about the clock, with rank 0's answer. The path of rank 0's trace follows.
struct clock_card {
  std::int64_t asked;    // by the clock of the rank that asks
  std::int64_t now;      // by rank 0's clock
  std::uint64_t clock;   // clock_identity()
  std::uint64_t number;  // of the job
};

std::int64_t steady_now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <class T>
std::string as_bytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::uint64_t random_number() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

}  // namespace

// Writes one JSON object after the other into the list of events. In a job, the process number of an event is
// that of its rank, since processes on two hosts may have the same number.
class trace::writer {
 public:
  writer(trace_file& to, const trace& of, const tick_scale& scale) noexcept
      : to_(to),
        file_(to.get()),
        of_(of),
        in_job_(of.ranks_ > 1),
        origin_(scale.origin()),
        began_(in_job_ ? scale.began() : 0),
        nanoseconds_per_tick_(scale.nanoseconds_per_tick()) {}

  void head(unsigned workers) {
    name_process();
    for (unsigned i = 0; i < workers; ++i) {
      begin("M", i);
      std::fprintf(file_, ",\"name\":\"thread_name\",\"args\":{\"name\":\"worker %u\"}}", i);
      begin("M", i);
      std::fprintf(file_, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}", i);
      if (const std::uint64_t lost = of_.rings_[i]->lost(); lost != 0) {
        begin("M", i);
        std::fprintf(file_, ",\"name\":\"lost_events\",\"args\":{\"lost_events\":%" PRIu64 "}}", lost);
      }
    }
  }

  void events(unsigned worker, const std::vector<trace_event>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& event = all[i];
      const auto* const next = i + 1 < all.size() ? &all[i + 1] : nullptr;
      if (event.what == event_kind::send) {
        sent_.push_back(nanoseconds(event.began));
        span(worker, event);
        // The arrow begins within the span of the sending.
        end_of_arrow("s", worker, event.began, "message", event.message);
      } else if (!is_instant(event.what)) {
        span(worker, event);
      } else {
        instant(worker, event, next);
      }
    }
  }

  // Writes the counters of messages, which count also events that were lost.
  void counters(const std::string& whose, const message_counters& all) {
    const auto counts = [](const message_counts& sent) {
      return "{\"sent\":" + std::to_string(sent.sent) + ",\"bytes\":" + std::to_string(sent.bytes) +
             ",\"packets\":" + std::to_string(sent.packets) + ",\"large\":" + std::to_string(sent.large) +
             ",\"large_bytes\":" + std::to_string(sent.large_bytes) + "}";
    };
    meta("messages", "\"of\":" + in_quotes(whose) + ",\"own\":" + counts(all.own) +
                         ",\"near\":" + counts(all.near) + ",\"far\":" + counts(all.far) + ",\"handled\":" +
                         std::to_string(all.handled) + ",\"waits\":" + std::to_string(all.waits));
  }
  // Writes how many messages were sent and came, as far as the trace has their events. They become lines
  // below the workers.
  void message_lines() {
    count("messages sent", sent_);
    count("messages that came", came_);
  }

 private:
  void name_process() {
    if (!in_job_) return meta("process_name", "\"name\":\"libteff\"");
    const auto& clock = of_.clock_;
    const bool is_root = of_.rank_ == 0;
    const auto host = host_name();
    meta("process_name", "\"name\":" + in_quotes("rank " + std::to_string(of_.rank_) + " on " + host));
    meta("process_sort_index", "\"sort_index\":" + std::to_string(of_.rank_));
    const std::string how = is_root             ? "clock of all"
                            : clock.is_shared() ? "clock shared with rank 0"
                            : clock.is_known()  ? "clock set by rank 0's"
                                                : "clock not known to agree";
    meta("process_labels", "\"labels\":" + in_quotes("process " + std::to_string(::getpid()) + ", " + how));
    meta("rank", "\"rank\":" + std::to_string(of_.rank_) + ",\"host\":" + in_quotes(host) + ",\"clock\":" +
                     in_quotes(how) + ",\"ahead_ns\":" + std::to_string(clock.ahead_at(began_)) +
                     ",\"error_ns\":" + std::to_string(is_root ? 0 : clock.error()));
  }
  void meta(const char* name, const std::string& arguments) {
    to_.separate();
    std::fprintf(file_, "{\"ph\":\"M\",\"pid\":%d,\"name\":\"%s\",\"args\":{%s}}", pid_, name,
                 arguments.c_str());
  }
  void begin(const char* kind, unsigned worker) {
    to_.separate();
    std::fprintf(file_, "{\"ph\":\"%s\",\"pid\":%d,\"tid\":%u", kind, pid_, first_thread_ + worker);
  }
  // In microseconds, as the format requires. Times are rounded before they are subtracted, so that events
  // that nest in ticks nest here.
  void time(const char* key, std::int64_t nanoseconds) {
    std::fprintf(file_, ",\"%s\":%" PRId64 ".%03u", key, nanoseconds / 1000,
                 static_cast<unsigned>(nanoseconds % 1000));
  }
  // Since the runtime began; in a job, by rank 0's steady clock.
  [[nodiscard]] std::int64_t nanoseconds(std::uint64_t ticks) const {
    const auto own =
        began_ + static_cast<std::int64_t>(static_cast<double>(ticks - origin_) * nanoseconds_per_tick_);
    return in_job_ ? own + of_.clock_.ahead_at(own) : own;
  }
  void name(const trace_event& event) {
    const char* const category = event_names[static_cast<std::size_t>(event.what)];
    const bool is_message = event.what == event_kind::send || event.what == event_kind::arrival;
    const char* const named = is_message || event.name == nullptr ? category : event.name;
    auto& text = names_[named];
    if (text.empty()) text = in_quotes(type_in(named));
    std::fprintf(file_, ",\"name\":%s,\"cat\":\"%s\"", text.c_str(), category);
  }

  void span(unsigned worker, const trace_event& event) {
    begin("X", worker);
    const auto began = nanoseconds(event.began);
    time("ts", began);
    time("dur", nanoseconds(event.ended) - began);
    name(event);
    if (event.what == event_kind::send)
      std::fprintf(file_, ",\"args\":{\"to\":\"rank %" PRIu32 "\"}", event.other);
    std::fputs("}", file_);
  }
  // Arrows end at the next event of the worker: the task that was stolen, or the handler.
  void instant(unsigned worker, const trace_event& event, const trace_event* next) {
    begin("i", worker);
    time("ts", nanoseconds(event.began));
    name(event);
    std::fputs(",\"s\":\"t\"", file_);
    if (event.what == event_kind::steal)
      std::fprintf(file_, ",\"args\":{\"from\":\"worker %" PRIu32 "\"}", event.other);
    if (event.what == event_kind::arrival)
      std::fprintf(file_, ",\"args\":{\"from\":\"rank %" PRIu32 "\"}", event.other);
    std::fputs("}", file_);
    if (event.what == event_kind::arrival) {
      came_.push_back(nanoseconds(event.began));
      end_of_arrow("f", worker, next == nullptr ? event.began : next->began, "message", event.message);
    } else if (event.what == event_kind::steal && next != nullptr) {
      const auto number = static_cast<std::uint64_t>(of_.rank_) << 42 | ++steals_;
      end_of_arrow("s", event.other, event.began, "steal", number);
      end_of_arrow("f", worker, next->began, "steal", number);
    }
  }
  void end_of_arrow(const char* kind, unsigned worker, std::uint64_t at, const char* what,
                    std::uint64_t number) {
    begin(kind, worker);
    time("ts", nanoseconds(at));
    std::fprintf(file_, ",\"id\":\"0x%" PRIx64 "\",\"name\":\"%s\",\"cat\":\"%s\"%s}", number, what, what,
                 *kind == 'f' ? ",\"bp\":\"e\"" : "");
  }
  void count(const char* what, std::vector<std::int64_t>& at) {
    constexpr std::size_t most_points = 2000;
    std::ranges::sort(at);
    const auto step = std::max<std::size_t>(at.size() / most_points, 1);
    for (std::size_t i = step - 1; i < at.size(); i += step) {
      to_.separate();
      std::fprintf(file_, "{\"ph\":\"C\",\"pid\":%d", pid_);
      time("ts", at[i]);
      std::fprintf(file_, ",\"name\":\"%s\",\"cat\":\"message\",\"args\":{\"messages\":%zu}}", what, i + 1);
    }
  }

  trace_file& to_;
  std::FILE* file_;
  const trace& of_;
  const bool in_job_;
  const int pid_ = in_job_ ? of_.rank_ + 1 : ::getpid();
  const unsigned first_thread_ = (in_job_ ? static_cast<unsigned>(of_.rank_) * 1024 : 0) + 1;
  std::uint64_t origin_;
  std::int64_t began_;
  double nanoseconds_per_tick_;
  std::uint64_t steals_ = 0;
  std::vector<std::int64_t> sent_;
  std::vector<std::int64_t> came_;
  std::unordered_map<const char*, std::string> names_;
};

void record_spawn(trace_ring& ring) noexcept {
  trace_ring::count(ring.spawned);
}

void record(trace_ring& ring, event_kind what, const char* name, std::uint64_t began) noexcept {
  ring.add({.began = began, .ended = ticks::now(), .name = name, .other = 0, .what = what});
}

std::uint64_t ticks_now() noexcept {
  return ticks::now();
}

std::vector<trace_event> trace_ring::in_order() const {
  const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(added_, capacity_));
  const auto oldest = kept < capacity_ ? 0 : next_;
  std::vector<std::size_t> order(kept);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto event = [&](std::size_t age) -> const trace_event& {
    return events_[(oldest + age) % capacity_];
  };
  // If two events begin and end in one tick, the outer one was added later.
  std::ranges::sort(order, {},
                    [&](std::size_t age) { return std::tuple(event(age).began, ~event(age).ended, ~age); });
  std::vector<trace_event> events;
  events.reserve(kept);
  for (const auto age : order) events.push_back(event(age));
  return events;
}

trace::trace(const std::string& path, const char* option, unsigned workers, std::size_t events_per_worker)
    : path_(make_file(path, option)), number_(random_number()) {
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
  return clock_.lacks_trip() ? as_bytes(steady_now()) : std::string();
}

std::string trace::clock_answer(std::string_view question) const {
  clock_card card{};
  std::memcpy(&card.asked, question.data(), std::min(question.size(), sizeof card.asked));
  card.now = steady_now();
  card.clock = clock_identity();
  card.number = number_;
  return as_bytes(card) + path_;
}

void trace::take_clock_answer(std::string_view answer) {
  const auto now = steady_now();
  clock_card card{};
  const std::lock_guard lock(mutex_);
  if (answer.size() < sizeof card) return clock_.end_series();  // rank 0 has no trace
  std::memcpy(&card, answer.data(), sizeof card);
  clock_.add({card.asked, card.now, now}, card.clock == clock_identity());
  number_of_rank_0_ = card.number;
  path_of_rank_0_ = answer.substr(sizeof card);
}

// ---- The file ----

void trace::write_to(trace_file& file, std::uint64_t lost, const tick_scale& scale) const {
  writer out(file, *this, scale);
  out.head(static_cast<unsigned>(rings_.size()));
  for (unsigned i = 0; i < rings_.size(); ++i) out.events(i, rings_[i]->in_order());
  out.message_lines();
  for (const auto& [whose, all] : messages_) out.counters(whose, all);
  if (!file.end(lost)) throw std::system_error(errno, std::generic_category());
}

// Writes to rank 0's file where this rank can, and to its own otherwise.
void trace::write(const tick_scale& scale) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    std::uint64_t lost = 0;
    for (const auto& each : rings_) lost += each->lost();
    std::optional<trace_file> file;
    if (!path_of_rank_0_.empty()) {
      try {
        file.emplace(path_of_rank_0_, number_of_rank_0_);
        if (path_of_rank_0_ != path_ && std::filesystem::is_regular_file(path_))
          std::filesystem::remove(path_);
      } catch (const std::system_error&) {
      }
    }
    if (!file) file.emplace(path_, path_of_rank_0_.empty() ? number_ : number_of_rank_0_);
    write_to(*file, lost, scale);
    if (lost != 0) {
      std::fprintf(stderr,
                   "libteff: the trace %s has the last events only; %" PRIu64
                   " before them are lost (TEFF_TRACE_EVENTS sets how many a worker keeps)\n",
                   path_.c_str(), lost);
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "libteff: the trace %s is not complete: %s\n", path_.c_str(), failure.what());
  }
}

}  // namespace teff::detail
