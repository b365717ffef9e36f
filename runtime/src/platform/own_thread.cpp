#include "platform/own_thread.hpp"

#include <csignal>
#include <system_error>
#include <utility>

namespace teff::detail {

namespace {

sigset_t signals_of_the_program() noexcept {
  sigset_t blocked;
  ::sigfillset(&blocked);
  for (const int each : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPIPE, SIGXFSZ, SIGTTIN,
                         SIGTTOU, SIGPROF})
    ::sigdelset(&blocked, each);
  return blocked;
}

// Of a thread of libteff: the signals that the program's thread blocked that started it.
constinit thread_local const sigset_t* blocked_by_the_program = nullptr;

// The only thread of a child process is the program's: the child must be able to end by a signal.
[[maybe_unused]] const int unblocks_in_children = ::pthread_atfork(nullptr, nullptr, [] {
  if (blocked_by_the_program != nullptr) ::pthread_sigmask(SIG_SETMASK, blocked_by_the_program, nullptr);
});

}  // namespace

void own_thread::start(std::function<void()> body, std::size_t stack_size) {
  body_ = std::move(body);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  int failed = stack_size == 0 ? 0 : ::pthread_attr_setstacksize(&attributes, stack_size);
  const auto blocked = signals_of_the_program();
  ::pthread_sigmask(SIG_BLOCK, &blocked, &blocked_before_);
  const auto now = blocked_before_;
  if (blocked_by_the_program != nullptr) blocked_before_ = *blocked_by_the_program;
  if (failed == 0) {
    failed = ::pthread_create(
        &thread_, &attributes,
        [](void* self) -> void* {
          const auto& me = *static_cast<const own_thread*>(self);
          blocked_by_the_program = &me.blocked_before_;
          me.body_();
          return nullptr;
        },
        this);
  }
  ::pthread_sigmask(SIG_SETMASK, &now, nullptr);
  ::pthread_attr_destroy(&attributes);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), "libteff: starting a thread");
  is_started_ = true;
}

void own_thread::join() noexcept {
  if (std::exchange(is_started_, false)) ::pthread_join(thread_, nullptr);
}

}  // namespace teff::detail
