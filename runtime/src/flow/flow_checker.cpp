
#include "flow/flow_checker.hpp"
#include "flow/accesses.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

namespace teff::detail {

// ---- Pages that the running task does not name ----

namespace {

constinit thread_local bool has_guards = false;
struct sigaction handler_before = {};  // written by the thread that has guards

// The whole pages of ranges, which may touch each other.
std::vector<byte_range> pages_of(std::span<const byte_range> ranges) {
  std::vector<byte_range> all(ranges.begin(), ranges.end());
  std::ranges::sort(all, {}, &byte_range::begin);
  std::vector<byte_range> joined;
  for (const auto& each : all) {
    if (!joined.empty() && each.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, each.end);
    } else {
      joined.push_back(each);
    }
  }
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (auto& each : joined) each = {(each.begin + page - 1) / page * page, each.end / page * page};
  std::erase_if(joined, [](const byte_range& each) { return each.begin >= each.end; });
  return joined;
}

// Between begin() and end(), the whole pages of some ranges are without access. A handler of SIGSEGV notes
// the first access of any thread, and gives access to the pages that it meets. While a guard lives, the guard
// made before is off. One thread of the process has guards at a time. The guards of other threads do nothing.
class page_guard {
 public:
  // The program has written to the ranges, so their pages are readable and writable. Throws std::bad_alloc.
  explicit page_guard(std::span<const byte_range> ranges);
  ~page_guard();

  void begin() const noexcept;
  void end() const noexcept;
  // The address of the first access; 0: there was none.
  [[nodiscard]] std::uintptr_t touched() const noexcept { return touched_.load(); }

 private:
  static void on_fault(int signal, siginfo_t* info, void* context) noexcept;
  void set_access(int access) const noexcept;

  static std::atomic<page_guard*> innermost;

  const std::vector<byte_range> pages_;
  std::atomic<std::uintptr_t> touched_{0};
  page_guard* outer_ = nullptr;
  bool is_on_ = false;
};

std::atomic<page_guard*> page_guard::innermost{nullptr};

page_guard::page_guard(std::span<const byte_range> ranges) : pages_(pages_of(ranges)) {
  if (has_guards) {
    outer_ = innermost.load();
    outer_->end();
    innermost.store(this);
  } else {
    page_guard* none = nullptr;
    if (!innermost.compare_exchange_strong(none, this)) return;
    struct sigaction ours = {};
    ours.sa_sigaction = &on_fault;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(SIGSEGV, &ours, &handler_before);
    has_guards = true;
  }
  is_on_ = true;
}

page_guard::~page_guard() {
  if (!is_on_) return;
  end();
  if (outer_ == nullptr) {
    ::sigaction(SIGSEGV, &handler_before, nullptr);
    has_guards = false;
  }
  innermost.store(outer_);
  if (outer_ != nullptr) outer_->begin();
}

void page_guard::begin() const noexcept {
  if (is_on_) set_access(PROT_NONE);
}

void page_guard::end() const noexcept {
  if (is_on_) set_access(PROT_READ | PROT_WRITE);
}

// Pages that the system refuses to protect stay as they are.
void page_guard::set_access(int access) const noexcept {
  for (const auto& each : pages_)
    static_cast<void>(::mprotect(reinterpret_cast<void*>(each.begin), each.end - each.begin, access));
}

// Only calls that are async-signal-safe. Another fault is for the handler before.
void page_guard::on_fault(int signal, siginfo_t* info, void* context) noexcept {
  const int error = errno;
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (page_guard* const guard = innermost.load(); guard != nullptr && info->si_code > 0)
    for (const auto& each : guard->pages_)
      if (each.begin <= at && at < each.end &&
          ::mprotect(reinterpret_cast<void*>(each.begin), each.end - each.begin, PROT_READ | PROT_WRITE) ==
              0) {
        std::uintptr_t none = 0;
        guard->touched_.compare_exchange_strong(none, at);
        errno = error;
        return;  // the access goes on
      }
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) return handler_before.sa_sigaction(signal, info, context);
  if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN)
    return handler_before.sa_handler(signal);
  ::sigaction(SIGSEGV, &handler_before, nullptr);  // the instruction faults again
  if (info->si_code <= 0) ::raise(signal);
}

}  // namespace

// ---- The checker ----

flow_checker::memory flow_checker::memory_of(std::span<const access> accesses) {
  memory all;
  for (const auto& each : accesses)
    each_row(each, [&](std::uintptr_t begin, std::uintptr_t end) {
      add(all.named, {{begin, end}});
      if (each.mode != access_mode::in) add(all.written, {{begin, end}});
    });
  return all;
}

flow_checker::ranges flow_checker::without(ranges all, const ranges& removed) {
  for (const auto& hole : removed) {
    const auto meets = [&](const byte_range& each) { return each.begin < hole.end && hole.begin < each.end; };
    if (std::ranges::none_of(all, meets)) continue;
    ranges left;
    for (const auto& each : all) {
      if (each.begin < hole.begin) left.push_back({each.begin, std::min(each.end, hole.begin)});
      if (each.end > hole.end) left.push_back({std::max(each.begin, hole.end), each.end});
    }
    all = std::move(left);
  }
  return all;
}

void flow_checker::add(ranges& to, const ranges& from) {
  const auto added = without(from, to);
  to.insert(to.end(), added.begin(), added.end());
}

void flow_checker::forget(const ranges& gone) {
  known_ = {without(std::move(known_.named), gone), without(std::move(known_.written), gone)};
}

std::optional<byte_range> flow_checker::check_inner(const ranges& named) {
  if (running_.empty()) return std::nullopt;
  auto& outer = running_.back();
  const auto outside = without(named, outer.named);
  const auto alone = without(outside, without(known_.named, outer.own));
  if (const auto shared = without(outside, alone); !shared.empty()) return shared.front();
  add(outer.own, alone);
  return std::nullopt;
}

std::optional<std::string> flow_checker::run(flow_task& task, std::span<const access> accesses) {
  const auto mine = memory_of(accesses);
  if (const auto wrong = check_inner(mine.named))
    return "names " + std::to_string(wrong->end - wrong->begin) + " bytes at " +
           address_in_words(wrong->begin) +
           ", which an earlier task names and the task in which it is made does not: name them there, too, "
           "as "
           "weak if only inner tasks touch them";
  add(known_.named, mine.named);
  add(known_.written, mine.written);
  page_guard guard(without(known_.written, mine.named));
  const auto guarded = without(known_.named, mine.written);
  std::vector<std::vector<std::byte>> before;
  for (const auto& each : guarded) {
    const auto* const first = reinterpret_cast<const std::byte*>(each.begin);
    before.emplace_back(first, first + (each.end - each.begin));
  }
  running_.push_back({mine.named, {}});
  in_loop_ = task.body->loop != nullptr;
  struct leave {
    flow_checker& of;
    ~leave() {
      of.forget(of.running_.back().own);
      of.running_.pop_back();
      of.in_loop_ = false;  // it has no inner task
    }
  } const leaving{*this};
  guard.begin();
  task.body->run(task);
  combine_all(task);
  guard.end();
  for (std::size_t i = 0; i < guarded.size(); ++i) {
    const auto* const now = reinterpret_cast<const std::byte*>(guarded[i].begin);
    const auto changed = std::mismatch(before[i].begin(), before[i].end(), now).first - before[i].begin();
    if (const auto at = guarded[i].begin + static_cast<std::uintptr_t>(changed); at != guarded[i].end)
      return "has written memory at " + address_in_words(at) +
             ", which another task names and it does not, or by in() only: name it by inout()";
  }
  if (guard.touched() != 0)
    return "has read memory at " + address_in_words(guard.touched()) +
           ", which an earlier task names as written and it does not name: name it by in()";
  return std::nullopt;
}

}  // namespace teff::detail
