#include "platform/stack_overflow.hpp"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

// Of every sanitizer's run-time library; null in a program without one.
extern "C" [[gnu::weak]] void __sanitizer_print_stack_trace();  // NOLINT: its name

namespace teff::detail {

namespace {

// Initial-exec: to read it must not allocate, in a handler.
[[gnu::tls_model("initial-exec")]] constinit thread_local const stack_overflow_line* line_of_this_thread =
    nullptr;

bool speaks_for_itself() noexcept {
  return __sanitizer_print_stack_trace != nullptr;
}

// Only calls that are async-signal-safe.
void on_fault(int signal, siginfo_t* info, void*) noexcept {
  const int error = errno;
  const bool is_sent = info->si_code <= 0;  // by kill() or raise(), not by an instruction
  if (!is_sent && line_of_this_thread != nullptr)
    line_of_this_thread->write_if_overflowed(reinterpret_cast<std::uintptr_t>(info->si_addr));
  struct sigaction as_before = {};
  as_before.sa_handler = SIG_DFL;
  ::sigaction(signal, &as_before, nullptr);
  // The instruction faults again when the handler returns; one that was sent comes then.
  if (is_sent) ::raise(signal);
  errno = error;
}

// The handler of SIGSEGV: installed once, and given back when this library is unloaded or the program ends.
class fault_handler {
 public:
  // Relaxed: nothing else depends on it.
  void install_once() noexcept {
    if (is_installed_.exchange(true, std::memory_order_relaxed)) return;
    struct sigaction now = {};
    if (::sigaction(SIGSEGV, nullptr, &now) != 0) return;
    if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL) return;  // the program's own
    struct sigaction ours = {};
    ours.sa_sigaction = &on_fault;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(SIGSEGV, &ours, nullptr);
  }
  // A handler that the program has installed since stays. If it calls this one after the unloading, that
  // call faults, and the process ends by SIGSEGV as it would have.
  ~fault_handler() {
    struct sigaction now = {};
    if (::sigaction(SIGSEGV, nullptr, &now) != 0) return;
    if ((now.sa_flags & SA_SIGINFO) == 0 || now.sa_sigaction != &on_fault) return;
    struct sigaction as_before = {};
    as_before.sa_handler = SIG_DFL;
    ::sigaction(SIGSEGV, &as_before, nullptr);
  }

 private:
  std::atomic<bool> is_installed_{false};
};
constinit fault_handler handler;

}  // namespace

stack_overflow_line::stack_overflow_line(const char* owner, const char* way_out) noexcept {
  pthread_attr_t attributes;
  if (speaks_for_itself() || ::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
  void* lowest = nullptr;
  std::size_t guard = 0;
  if (::pthread_attr_getstack(&attributes, &lowest, &stack_size_) == 0 &&
      ::pthread_attr_getguardsize(&attributes, &guard) == 0 && guard != 0) {
    // glibc before 2.27 counts the guard as a part of the stack.
    const auto bottom = reinterpret_cast<std::uintptr_t>(lowest);
    guard_begin_ = bottom - guard;
    guard_end_ = bottom + guard;
    say(owner, way_out);
  }
  ::pthread_attr_destroy(&attributes);
}

stack_overflow_line::stack_overflow_line(const guarded_memory& stack, const char* owner,
                                         const char* way_out) noexcept
    : guard_begin_(reinterpret_cast<std::uintptr_t>(stack.begin()) - stack.guard()),
      guard_end_(reinterpret_cast<std::uintptr_t>(stack.begin())),
      stack_size_(stack.size()) {
  if (!speaks_for_itself()) say(owner, way_out);
}

void stack_overflow_line::say(const char* owner, const char* way_out) noexcept {
  const int length =
      std::snprintf(line_, sizeof line_,
                    "teff: %s has used up its stack of %zu bytes, by deep recursion or large variables; %s\n",
                    owner, stack_size_, way_out);
  length_ = std::min(static_cast<std::size_t>(std::max(length, 0)), sizeof line_ - 1);
  handler.install_once();
}

void stack_overflow_line::write_if_overflowed(std::uintptr_t fault) const noexcept {
  if (fault < guard_begin_ || fault >= guard_end_) return;
  static_cast<void>(!::write(STDERR_FILENO, line_, length_));
}

watched_stack::watched_stack(const stack_overflow_line& line) noexcept
    : outer_(std::exchange(line_of_this_thread, &line)) {}

watched_stack::~watched_stack() {
  line_of_this_thread = outer_;
}

handler_stack::handler_stack() noexcept {
  stack_t now = {};
  if (speaks_for_itself() || ::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  // A handler of the program's may run on it, too. It takes memory as it is used.
  constexpr std::size_t room = std::size_t{64} << 10;
#if defined(AT_MINSIGSTKSZ)
  const auto least =
      static_cast<std::size_t>(::getauxval(AT_MINSIGSTKSZ));  // what the processor's registers take
#else
  const std::size_t least = MINSIGSTKSZ;
#endif
  try {
    memory_.emplace(room + least, "a stack for signal handlers", MAP_STACK);
  } catch (const std::system_error&) {
    return;
  }
  stack_t alternate = {};
  alternate.ss_sp = memory_->begin();
  alternate.ss_size = memory_->size();
  if (::sigaltstack(&alternate, nullptr) != 0) memory_.reset();
}

handler_stack::~handler_stack() {
  stack_t now = {};
  if (!memory_ || ::sigaltstack(nullptr, &now) != 0 || now.ss_sp != memory_->begin()) return;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
}

}  // namespace teff::detail
