#include "flow/page_guard.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace teff::detail {

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

}  // namespace

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

}  // namespace teff::detail
