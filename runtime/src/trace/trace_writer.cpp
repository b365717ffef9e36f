// The file of a trace: its events as JSON, in the Trace Event Format. The ranks of a job add their events to
// one file, one rank after the other (README.md).
#include "platform/host_name.hpp"
#include "platform/ticks.hpp"
#include "trace/trace.hpp"

#include <fcntl.h>
#include <link.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

namespace teff::detail {

namespace {

// All heads have one length, so that each rank can overwrite the head.
constexpr const char* head_format = "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"job\": \"%016" PRIx64
                                    "\", \"lost_events\": %20" PRIu64 "}, \"traceEvents\": [\n";
constexpr char end_of_file[] = "\n]}\n";

// By event_kind.
constexpr std::array<const char*, 14> event_names{"task",     "run",     "loop",    "waiting", "searching",
                                                  "parked",   "handler", "send",    "request", "steal",
                                                  "exposure", "wake",    "message", "capacity"};

std::string in_quotes(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return json + '"';
}

// A member of an object, without a comma.
std::string member(const char* key, std::string_view text) {
  return '"' + std::string(key) + "\":" + in_quotes(text);
}
std::string member(const char* key, std::integral auto number) {
  return '"' + std::string(key) + "\":" + std::to_string(number);
}

std::string name_and_arguments(const std::string& name, const std::string& arguments) {
  return ',' + member("name", name) + ",\"args\":{" + arguments + '}';
}

// In microseconds, as the format requires. Times are rounded before they are subtracted, so that events that
// nest in ticks nest here.
std::string time_field(const char* key, std::int64_t nanoseconds) {
  const auto fraction = std::to_string(1000 + nanoseconds % 1000);
  return ",\"" + std::string(key) + "\":" + std::to_string(nanoseconds / 1000) + '.' + fraction.substr(1);
}

std::string id_field(std::uint64_t number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), ",\"id\":\"0x%" PRIx64 "\"", number);
  return text.data();
}

// Which worker or rank an event has to do with, if any.
std::string other_of(const trace_event& event) {
  const auto says = [&](const char* how, const char* what) {
    return ",\"args\":{" + member(how, what + std::to_string(event.other)) + '}';
  };
  switch (event.what) {
    case event_kind::send:
      return says("to", "rank ");
    case event_kind::arrival:
      return says("from", "rank ");
    case event_kind::steal:
      return says("from", "worker ");
    case event_kind::request:
      return static_cast<int>(event.other) < 0 ? "" : says("with", "rank ");
    default:
      return {};
  }
}

// An address and, of all modules that begin before it, the last one, which has it.
using address_in_module = std::pair<std::uintptr_t, dl_phdr_info>;
int look_at_module(dl_phdr_info* each, std::size_t /*size*/, void* wanted) {
  auto& [address, module] = *static_cast<address_in_module*>(wanted);
  if (module.dlpi_addr <= each->dlpi_addr && each->dlpi_addr <= address) module = *each;
  return 0;
}

}  // namespace

// The file, open and locked for this runtime. Events of the same job stay. While no runtime has it open, the
// file is complete JSON. In a job, the process number of an event is that of its rank, since processes on two
// hosts may have the same number.
class trace::writer {
 public:
  // Throws std::system_error.
  writer(const trace& of, const std::string& path, std::uint64_t job, const tick_scale& scale)
      : of_(of),
        in_job_(of.ranks_ > 1),
        job_(job),
        origin_(scale.origin()),
        runtime_began_(scale.began()),
        began_(in_job_ ? runtime_began_ : 0),
        nanoseconds_per_tick_(scale.nanoseconds_per_tick()) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor >= 0) file_.reset(::fdopen(descriptor, "r+"));
    // fclose() releases the lock.
    if (file_ == nullptr || ::flock(descriptor, LOCK_EX) != 0)
      throw std::system_error(errno, std::generic_category());
    struct stat what{};
    std::array<char, 256> text{};
    std::uint64_t written_by = 0;
    if (::fstat(descriptor, &what) == 0 && S_ISREG(what.st_mode) &&
        ::pread(descriptor, text.data(), text.size() - 1, 0) > 0 &&
        std::sscanf(text.data(), head_format, &written_by, &lost_) == 2 && written_by == job) {
      is_first_ = false;
      std::fseek(file_.get(), -static_cast<long>(sizeof end_of_file - 1), SEEK_END);
      return;
    }
    lost_ = 0;
    if (::ftruncate(descriptor, 0) != 0 && S_ISREG(what.st_mode))
      throw std::system_error(errno, std::generic_category());
    write_head();
  }

  // Writes the events of all workers, and the counters of messages. `lost`: how many events these workers
  // have lost. Throws std::system_error.
  void write(std::uint64_t lost) {
    const auto writes_since = steady_nanoseconds();
    name_process();
    for (unsigned i = 0; i < of_.rings_.size(); ++i) name_worker(i);
    for (unsigned i = 0; i < of_.rings_.size(); ++i) events(i, of_.rings_[i]->in_order());
    lines("messages sent", sent_);
    lines("messages that came", came_);
    for (const auto& [whose, all] : of_.messages_) counters(whose, all);
    const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
    const auto steady_now = steady_nanoseconds();
    meta("written", member("began_ns", now.count() - (steady_now - runtime_began_)) + ',' +
                        member("writing_ns", steady_now - writes_since));
    std::fputs(end_of_file, file_.get());
    lost_ += lost;
    if (std::fflush(file_.get()) == 0) {
      if (std::fseek(file_.get(), 0, SEEK_SET) == 0)
        write_head();  // fails in a pipe, to which one runtime alone writes
      if (std::fflush(file_.get()) == 0 && std::ferror(file_.get()) == 0) return;
    }
    throw std::system_error(errno, std::generic_category());
  }

 private:
  void write_head() { std::fprintf(file_.get(), head_format, job_, lost_); }

  // Writes an event with these fields, each of which begins with a comma.
  void put(const char* kind, const std::string& fields) {
    std::fprintf(file_.get(), "%s{\"ph\":\"%s\",\"pid\":%d%s}", std::exchange(is_first_, false) ? "" : ",\n",
                 kind, process_, fields.c_str());
  }
  void put(const char* kind, unsigned worker, const std::string& fields) {
    put(kind, ',' + member("tid", first_thread_ + worker) + fields);
  }
  void meta(const char* name, const std::string& arguments) { put("M", name_and_arguments(name, arguments)); }

  void name_process() {
    if (!in_job_) return meta("process_name", member("name", "libteff"));
    const auto& clock = of_.clock_;
    const bool is_root = of_.rank_ == 0;
    const auto host = host_name();
    const std::string how = is_root             ? "clock of all"
                            : clock.is_shared() ? "clock shared with rank 0"
                            : clock.is_known()  ? "clock set by rank 0's"
                                                : "clock not known to agree";
    meta("process_name", member("name", "rank " + std::to_string(of_.rank_) + " on " + host));
    meta("process_sort_index", member("sort_index", of_.rank_));
    meta("process_labels", member("labels", "process " + std::to_string(::getpid()) + ", " + how));
    meta("rank", member("rank", of_.rank_) + ',' + member("host", host) + ',' + member("clock", how) + ',' +
                     member("ahead_ns", clock.ahead_at(began_)) + ',' +
                     member("error_ns", is_root ? 0 : clock.error()));
  }
  void name_worker(unsigned worker) {
    const auto name = [&](const char* what, const std::string& arguments) {
      put("M", worker, name_and_arguments(what, arguments));
    };
    name("thread_name", member("name", "worker " + std::to_string(worker)));
    name("thread_sort_index", member("sort_index", worker));
    if (const auto lost = of_.rings_[worker]->lost(); lost != 0)
      name("lost_events", member("lost_events", lost));
  }
  // GCC's spelling does not tell which lambda of a function it is, but where it lies does (README.md).
  std::string closure_of(const char* spelling) {
    if (type_in(spelling).find("<lambda") == std::string_view::npos) return {};
    address_in_module found{reinterpret_cast<std::uintptr_t>(spelling), {}};
    ::dl_iterate_phdr(&look_at_module, &found);
    const auto& [address, module] = found;
    std::error_code unknown;
    const auto path =
        std::filesystem::canonical(*module.dlpi_name != 0 ? module.dlpi_name : "/proc/self/exe", unknown);
    const auto closure = member("closure", address);
    meta("closure", closure + ',' + member("module", path.string()) + ',' +
                        member("offset", address - module.dlpi_addr));
    return ',' + closure;
  }
  std::string name_of(const trace_event& event) {
    const char* const category = event_names[static_cast<std::size_t>(event.what)];
    const bool is_message = event.what == event_kind::send || event.what == event_kind::arrival;
    const char* const named = is_message || event.name == nullptr ? category : event.name;
    auto& text = names_[named];
    if (text.empty()) text = ',' + member("name", type_in(named)) + closure_of(named);
    return text + ',' + member("cat", category);
  }

  // Since the runtime began; in a job, by rank 0's steady clock.
  [[nodiscard]] std::int64_t nanoseconds(std::uint64_t ticks) const {
    const auto own =
        began_ + static_cast<std::int64_t>(static_cast<double>(ticks - origin_) * nanoseconds_per_tick_);
    return in_job_ ? own + of_.clock_.ahead_at(own) : own;
  }
  // Unique in the job.
  [[nodiscard]] std::uint64_t next_number() noexcept {
    return static_cast<std::uint64_t>(of_.rank_) << 42 | ++numbers_;
  }

  void events(unsigned worker, std::vector<trace_event> all) {
    std::erase_if(all, [&](const trace_event& each) {
      if (each.what != event_kind::request) return false;
      request(worker, each);
      return true;
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& event = all[i];
      const bool is_last = i + 1 == all.size();
      const auto at = nanoseconds(event.began);
      // Arrows end at the next event of the worker: the task that was stolen, or the handler.
      const auto next = is_last ? at : nanoseconds(all[i + 1].began);
      if (event.what == event_kind::capacity) {
        const auto name = "capacity of worker " + std::to_string(worker);  // a line for each worker
        put("C", worker,
            time_field("ts", at) + ',' + member("cat", "capacity") +
                name_and_arguments(name, "\"capacity\":" + std::to_string(event.other / 1000.0)));
        continue;
      }
      if (event.what >= event_kind::steal) {  // an instant
        put("i", worker, time_field("ts", at) + name_of(event) + ",\"s\":\"t\"" + other_of(event));
      } else {
        put("X", worker,
            time_field("ts", at) + time_field("dur", nanoseconds(event.ended) - at) + name_of(event) +
                other_of(event));
      }
      if (event.what == event_kind::send) {
        sent_.push_back(at);
        arrow("s", worker, at, "message", event.message);  // within the span of the sending
      } else if (event.what == event_kind::arrival) {
        came_.push_back(at);
        arrow("f", worker, next, "message", event.message);
      } else if (event.what == event_kind::steal && !is_last) {
        const auto number = next_number();
        arrow("s", event.other, at, "steal", number);
        arrow("f", worker, next, "steal", number);
      }
    }
  }
  // Requests overlap, so they are no slices of a thread. They are asynchronous slices, which Perfetto draws
  // as one track a name, below the workers of the rank.
  void request(unsigned worker, const trace_event& event) {
    const auto fields = id_field(next_number()) + name_of(event);
    put("b", worker, time_field("ts", nanoseconds(event.began)) + fields + other_of(event));
    put("e", worker, time_field("ts", nanoseconds(event.ended)) + fields);
  }
  void arrow(const char* kind, unsigned worker, std::int64_t at, const char* what, std::uint64_t number) {
    put(kind, worker,
        time_field("ts", at) + id_field(number) + ',' + member("name", what) + ',' + member("cat", what) +
            (*kind == 'f' ? ",\"bp\":\"e\"" : ""));
  }
  // How many messages were sent or came, as far as the trace has their events: a line below the workers.
  void lines(const char* what, std::vector<std::int64_t>& at) {
    constexpr std::size_t most_points = 2000;
    std::ranges::sort(at);
    const auto step = std::max<std::size_t>(at.size() / most_points, 1);
    for (std::size_t i = step - 1; i < at.size(); i += step)
      put("C", time_field("ts", at[i]) + ',' + member("cat", "message") +
                   name_and_arguments(what, member("messages", i + 1)));
  }
  // They count also events that were lost.
  void counters(const std::string& whose, const message_counters& all) {
    const auto counts = [](const char* where, const message_counts& sent) {
      return ",\"" + std::string(where) + "\":{" + member("sent", sent.sent) + ',' +
             member("bytes", sent.bytes) + ',' + member("packets", sent.packets) + ',' +
             member("large", sent.large) + ',' + member("large_bytes", sent.large_bytes) + '}';
    };
    meta("messages", member("of", whose) + counts("own", all.own) + counts("near", all.near) +
                         counts("far", all.far) + ',' + member("handled", all.handled) + ',' +
                         member("waits", all.waits));
  }

  const trace& of_;
  const bool in_job_;
  const int process_ = in_job_ ? of_.rank_ + 1 : ::getpid();
  const unsigned first_thread_ = (in_job_ ? static_cast<unsigned>(of_.rank_) * 1024 : 0) + 1;
  const std::uint64_t job_;
  const std::uint64_t origin_;
  const std::int64_t runtime_began_;  // by the steady clock
  const std::int64_t began_;          // the time of the trace when the runtime began
  const double nanoseconds_per_tick_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, &std::fclose};
  std::uint64_t lost_ = 0;  // events that the ranks before have lost
  bool is_first_ = true;
  std::uint64_t numbers_ = 0;
  std::vector<std::int64_t> sent_;
  std::vector<std::int64_t> came_;
  std::unordered_map<const char*, std::string> names_;
};

// Writes to rank 0's file where this rank can, and to its own otherwise.
void trace::write(const tick_scale& scale) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    take_job_of_process();
    std::uint64_t lost = 0;
    for (const auto& each : rings_) lost += each->lost();
    std::optional<writer> file;
    if (!path_of_rank_0_.empty()) {
      try {
        file.emplace(*this, path_of_rank_0_, number_of_rank_0_, scale);
        if (path_of_rank_0_ != path_ && std::filesystem::is_regular_file(path_))
          std::filesystem::remove(path_);
      } catch (const std::system_error&) {
      }
    }
    if (!file) file.emplace(*this, path_, path_of_rank_0_.empty() ? number_ : number_of_rank_0_, scale);
    file->write(lost);
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
