// The events of a trace as JSON, in the Trace Event Format.
#pragma once

#include "platform/host_name.hpp"
#include "platform/ticks.hpp"
#include "trace/trace.hpp"
#include "trace/trace_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace teff::detail {

inline constexpr std::array<const char*, 14> event_names{
    "task", "run",     "loop",  "waiting",  "searching", "parked",  "handler",
    "send", "request", "steal", "exposure", "wake",      "message", "capacity"};

// The type in a compiler's spelling of spelling_of<T>(): "... [with T = TYPE]" or "... [T = TYPE]".
inline std::string_view type_in(std::string_view spelling) {
  constexpr std::string_view before = "T = ";
  const auto start = spelling.find(before);
  if (start == std::string_view::npos || spelling.back() != ']') return spelling;
  spelling.remove_suffix(1);
  return spelling.substr(start + before.size());
}

inline std::string in_quotes(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return json + '"';
}

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

  void events(unsigned worker, std::vector<trace_event> all) {
    const auto is_request = [](const trace_event& each) { return each.what == event_kind::request; };
    for (const auto& each : all)
      if (is_request(each)) request(worker, each);
    std::erase_if(all, is_request);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& event = all[i];
      const auto* const next = i + 1 < all.size() ? &all[i + 1] : nullptr;
      if (event.what == event_kind::send) {
        sent_.push_back(nanoseconds(event.began));
        span(worker, event);
        // The arrow begins within the span of the sending.
        end_of_arrow("s", worker, event.began, "message", event.message);
      } else if (event.what == event_kind::capacity) {
        capacity(worker, event);
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
  // Requests overlap, so they are no slices of a thread. They are asynchronous slices, which Perfetto draws
  // as one track a name, below the workers of the rank.
  void request(unsigned worker, const trace_event& event) {
    const auto number = static_cast<std::uint64_t>(of_.rank_) << 42 | ++requests_;
    for (const auto& [kind, at] : {std::pair("b", event.began), std::pair("e", event.ended)}) {
      begin(kind, worker);
      time("ts", nanoseconds(at));
      std::fprintf(file_, ",\"id\":\"0x%" PRIx64 "\"", number);
      name(event);
      if (*kind == 'b' && static_cast<int>(event.other) >= 0)
        std::fprintf(file_, ",\"args\":{\"with\":\"rank %" PRIu32 "\"}", event.other);
      std::fputs("}", file_);
    }
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
  // A line for each worker.
  void capacity(unsigned worker, const trace_event& event) {
    begin("C", worker);
    time("ts", nanoseconds(event.began));
    std::fprintf(file_,
                 ",\"name\":\"capacity of worker %u\",\"cat\":\"capacity\",\"args\":{\"capacity\":%.3f}}",
                 worker, event.other / 1000.0);
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
  std::uint64_t requests_ = 0;
  std::vector<std::int64_t> sent_;
  std::vector<std::int64_t> came_;
  std::unordered_map<const char*, std::string> names_;
};

}  // namespace teff::detail
