#include "trace/trace.hpp"

#include <teff/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace teff::detail {

namespace {

constexpr std::array<const char*, 9> event_names{"task",   "run",   "loop",     "waiting", "searching",
                                                 "parked", "steal", "exposure", "wake"};

std::string path_of(const std::string& pattern) {
  static std::atomic<unsigned> traces{0};
  std::string path = pattern;
  if (const auto at = path.find("%p"); at != std::string::npos)
    path.replace(at, 2, std::to_string(::getpid()));
  if (const auto number = ++traces; number > 1) {
    const auto name = path.rfind('/') + 1;  // npos + 1 is 0
    const auto dot = path.rfind('.');
    path.insert(dot == std::string::npos || dot < name ? path.size() : dot, "." + std::to_string(number));
  }
  return path;
}

// The type out of a compiler's spelling of spelling_of<T>(): "... [with T = TYPE]" or "... [T = TYPE]".
std::string_view type_in(std::string_view spelling) {
  constexpr std::string_view before = "T = ";
  const auto start = spelling.find(before);
  if (start == std::string_view::npos || spelling.back() != ']') return spelling;
  spelling.remove_suffix(1);
  return spelling.substr(start + before.size());
}

std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return json + '"';
}

// Writes one JSON object after the other into the list of events.
class writer {
 public:
  writer(std::FILE* file, const tick_scale& scale) noexcept
      : file_(file), origin_(scale.origin()), nanoseconds_per_tick_(scale.nanoseconds_per_tick()) {}

  void head(unsigned workers, std::uint64_t lost) {
    std::fprintf(file_,
                 "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"lost_events\": %" PRIu64
                 "}, \"traceEvents\": [\n"
                 "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"libteff\"}}",
                 lost, pid_);
    for (unsigned i = 0; i < workers; ++i) {
      begin("M", i);
      std::fprintf(file_, ",\"name\":\"thread_name\",\"args\":{\"name\":\"worker %u\"}}", i);
      begin("M", i);
      std::fprintf(file_, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}", i);
    }
  }

  void events(unsigned worker, const std::vector<trace_event>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& event = all[i];
      if (!is_instant(event.what)) {
        span(worker, event);
        continue;
      }
      instant(worker, event);
      // From the victim to what the thief does next: the task.
      if (event.what == event_kind::steal && i + 1 < all.size()) arrow(worker, event, all[i + 1].began);
    }
  }

  void end() { std::fputs("\n]}\n", file_); }

 private:
  void begin(const char* kind, unsigned worker) {
    std::fprintf(file_, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%u", kind, pid_, worker + 1);
  }
  // In microseconds, as the format has it. Rounded before anything is subtracted, so that what nests in ticks
  // nests here.
  void time(const char* key, std::uint64_t nanoseconds) {
    std::fprintf(file_, ",\"%s\":%" PRIu64 ".%03u", key, nanoseconds / 1000,
                 static_cast<unsigned>(nanoseconds % 1000));
  }
  [[nodiscard]] std::uint64_t nanoseconds(std::uint64_t ticks) const {
    return static_cast<std::uint64_t>(static_cast<double>(ticks - origin_) * nanoseconds_per_tick_);
  }
  void name(const trace_event& event) {
    const char* const category = event_names[static_cast<std::size_t>(event.what)];
    const char* const named = event.name == nullptr ? category : event.name;
    auto& text = names_[named];
    if (text.empty()) text = quoted(type_in(named));
    std::fprintf(file_, ",\"name\":%s,\"cat\":\"%s\"", text.c_str(), category);
  }

  void span(unsigned worker, const trace_event& event) {
    begin("X", worker);
    const auto began = nanoseconds(event.began);
    time("ts", began);
    time("dur", nanoseconds(event.ended) - began);
    name(event);
    std::fputs("}", file_);
  }
  void instant(unsigned worker, const trace_event& event) {
    begin("i", worker);
    time("ts", nanoseconds(event.began));
    name(event);
    std::fputs(",\"s\":\"t\"", file_);
    if (event.what == event_kind::steal)
      std::fprintf(file_, ",\"args\":{\"from\":\"worker %" PRIu32 "\"}", event.other);
    std::fputs("}", file_);
  }
  void arrow(unsigned thief, const trace_event& steal, std::uint64_t task_began) {
    ++arrows_;
    const auto end_of_arrow = [&](const char* kind, unsigned worker, std::uint64_t at, const char* binding) {
      begin(kind, worker);
      time("ts", nanoseconds(at));
      std::fprintf(file_, ",\"id\":%" PRIu64 ",\"name\":\"steal\",\"cat\":\"steal\"%s}", arrows_, binding);
    };
    end_of_arrow("s", steal.other, steal.began, "");
    end_of_arrow("f", thief, task_began, ",\"bp\":\"e\"");
  }

  std::FILE* file_;
  int pid_ = ::getpid();
  std::uint64_t origin_;
  double nanoseconds_per_tick_;
  std::uint64_t arrows_ = 0;
  std::unordered_map<const char*, std::string> names_;
};

}  // namespace

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
  // Of two that begin and end in one tick, the outer was added later.
  std::ranges::sort(order, {},
                    [&](std::size_t age) { return std::tuple(event(age).began, ~event(age).ended, ~age); });
  std::vector<trace_event> events;
  events.reserve(kept);
  for (const auto age : order) events.push_back(event(age));
  return events;
}

trace::trace(const std::string& path, unsigned workers, std::size_t events_per_worker)
    : path_(path_of(path)), file_(std::fopen(path_.c_str(), "we"), &std::fclose) {
  if (file_ == nullptr)
    throw invalid_option("the trace can't be written to " + path_ + ": " + std::strerror(errno));
  for (unsigned i = 0; i < workers; ++i) rings_.push_back(std::make_unique<trace_ring>(events_per_worker));
}

void trace::write(const tick_scale& scale) noexcept {
  try {
    std::uint64_t lost = 0;
    for (const auto& each : rings_) lost += each->lost();
    writer out(file_.get(), scale);
    out.head(static_cast<unsigned>(rings_.size()), lost);
    for (unsigned i = 0; i < rings_.size(); ++i) out.events(i, rings_[i]->in_order());
    out.end();
    if (std::fflush(file_.get()) != 0) {
      std::fprintf(stderr, "libteff: the trace %s is not complete: %s\n", path_.c_str(),
                   std::strerror(errno));
    } else if (lost != 0) {
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
