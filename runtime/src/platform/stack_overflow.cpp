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

// Of every sanitizer's run-time library; null in a program without one.
extern "C" [[gnu::weak]] void __sanitizer_print_stack_trace();  // NOLINT: its name

namespace teff::detail {

namespace {

// Initial-exec: to read it must not allocate, in a handler.
[[gnu::tls_model("initial-exec")]] constinit thread_local const stack_overflow_report* report_of_this_thread =
    nullptr;

// Only calls that are async-signal-safe.
void on_fault(int signal, siginfo_t* info, void*) noexcept {
  const int error = errno;
  const bool is_sent = info->si_code <= 0;  // by kill() or raise(), not by an instruction
  if (!is_sent && report_of_this_thread != nullptr)
    report_of_this_thread->write_if_overflowed(reinterpret_cast<std::uintptr_t>(info->si_addr));
  struct sigaction as_before = {};
  as_before.sa_handler = SIG_DFL;
  ::sigaction(signal, &as_before, nullptr);
  // The instruction faults again when the handler returns; one that was sent comes then.
  if (is_sent) ::raise(signal);
  errno = error;
}

// Once in a process, whoever comes first. Relaxed: nothing else depends on it.
void install_handler_once() noexcept {
  static constinit std::atomic<bool> done{false};
  if (done.exchange(true, std::memory_order_relaxed)) return;
  struct sigaction now = {};
  if (::sigaction(SIGSEGV, nullptr, &now) != 0) return;
  if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL) return;  // the program's own
  struct sigaction ours = {};
  ours.sa_sigaction = &on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGSEGV, &ours, nullptr);
}

}  // namespace

stack_overflow_report::stack_overflow_report(const char* owner, const char* way_out) noexcept {
  if (__sanitizer_print_stack_trace != nullptr) return;
  find_guard();
  if (guard_end_ == 0) return;
  const int length =
      std::snprintf(line_, sizeof line_,
                    "teff: %s has used up its stack of %zu bytes, by deep recursion or large variables; %s\n",
                    owner, stack_size_, way_out);
  length_ = std::min(static_cast<std::size_t>(std::max(length, 0)), sizeof line_ - 1);
  set_alternate_stack();
  report_of_this_thread = this;
  install_handler_once();
}

stack_overflow_report::~stack_overflow_report() {
  report_of_this_thread = nullptr;
  if (alternate_ == nullptr) return;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
  ::munmap(alternate_, alternate_size_);
}

void stack_overflow_report::find_guard() noexcept {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
  void* lowest = nullptr;
  std::size_t guard = 0;
  if (::pthread_attr_getstack(&attributes, &lowest, &stack_size_) == 0 &&
      ::pthread_attr_getguardsize(&attributes, &guard) == 0 && guard != 0) {
    // glibc before 2.27 counts the guard as a part of the stack.
    const auto bottom = reinterpret_cast<std::uintptr_t>(lowest);
    guard_begin_ = bottom - guard;
    guard_end_ = bottom + guard;
  }
  ::pthread_attr_destroy(&attributes);
}

void stack_overflow_report::set_alternate_stack() noexcept {
  stack_t now = {};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;  // somebody's own
  // A handler of the program's may run on it, too. It takes memory as it is used.
  constexpr std::size_t room = std::size_t{64} << 10;
#if defined(AT_MINSIGSTKSZ)
  const auto least =
      static_cast<std::size_t>(::getauxval(AT_MINSIGSTKSZ));  // what the processor's registers take
#else
  const std::size_t least = MINSIGSTKSZ;
#endif
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t size = (room + least + page - 1) / page * page;
  void* const memory = ::mmap(nullptr, page + size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;
  ::mprotect(memory, page, PROT_NONE);
  stack_t alternate = {};
  alternate.ss_sp = static_cast<std::byte*>(memory) + page;
  alternate.ss_size = size;
  if (::sigaltstack(&alternate, nullptr) != 0) {
    ::munmap(memory, page + size);
    return;
  }
  alternate_ = memory;
  alternate_size_ = page + size;
}

void stack_overflow_report::write_if_overflowed(std::uintptr_t fault) const noexcept {
  if (fault < guard_begin_ || fault >= guard_end_) return;
  static_cast<void>(!::write(STDERR_FILENO, line_, length_));
}

}  // namespace teff::detail
