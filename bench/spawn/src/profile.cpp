#include "teff/spawn/profile.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace teff::spawn {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto period = 997us;  // a prime: no pattern of whole milliseconds hides from it
constexpr std::size_t depth = 10;
constexpr std::size_t handler_frames = 6;  // the handler's own and the kernel's, above the interrupted one
constexpr std::size_t room = std::size_t{1} << 15;

struct one_look {
  clock::time_point at;
  std::int64_t missed = 0;
  std::size_t size = 0;
  std::array<void*, depth> stack{};
};

void* interrupted_at(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<void*>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(machine.pc);
#else
#error "where does this machine's ucontext have the program counter?"
#endif
}

std::vector<pid_t> threads(int workers) {
  std::vector<pid_t> others;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t id = std::stoi(each.path().filename().string());
    if (id != ::getpid()) others.push_back(id);
  }
  if (static_cast<int>(others.size()) < workers) others.push_back(::getpid());
  return others;
}

// The file that an address was loaded from, and the address in the file's own terms.
code_place place_of(std::uintptr_t address) {
  struct search {
    std::uintptr_t address;
    code_place found;
  } wanted{address, {"?", address, {}}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& [sought, found] = *static_cast<search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          const std::uintptr_t start = info->dlpi_addr + part.p_vaddr;
          if (part.p_type != PT_LOAD || sought < start || sought >= start + part.p_memsz) continue;
          found.module = info->dlpi_name;
          found.offset = sought - info->dlpi_addr;
          return 1;
        }
        return 0;
      },
      &wanted);
  if (wanted.found.module.empty())
    wanted.found.module = std::filesystem::read_symlink("/proc/self/exe").string();
  Dl_info symbol{};
  if (::dladdr(reinterpret_cast<void*>(address), &symbol) != 0 && symbol.dli_sname != nullptr)
    wanted.found.symbol = symbol.dli_sname;
  return wanted.found;
}

// Where the thread was, and how many looks at it were due while it was ready to run and did not.
void note(one_look& noted, int missed, const void* context) {
  noted.at = clock::now();
  noted.missed = missed;
  std::array<void*, depth + handler_frames> frames;
  const int size = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  void* const here = interrupted_at(context);
  const auto end = frames.begin() + size;
  const auto first = std::find(frames.begin(), end, here);
  noted.size = 0;
  if (first == end) {
    noted.stack[noted.size++] = here;
  } else {
    for (auto at = first; at != end && noted.size < depth; ++at) noted.stack[noted.size++] = *at;
  }
}

}  // namespace

struct sampler::looks {
  std::atomic<bool> open{false};
  std::atomic<int> in_progress{0};
  std::atomic<std::size_t> next{0};
  std::vector<one_look> all = std::vector<one_look>(room);

  static inline std::atomic<looks*> current{nullptr};
};

// On the worker, between any two of its instructions.
void sampler::look(int, siginfo_t* info, void* context) {
  auto* const into = looks::current.load(std::memory_order_acquire);
  if (into == nullptr) return;
  const int error = errno;
  // seq_cst, as in stop(): either it sees this one, or this one sees that it is closed.
  into->in_progress.fetch_add(1, std::memory_order_seq_cst);
  if (into->open.load(std::memory_order_seq_cst)) {
    const auto index = into->next.fetch_add(1, std::memory_order_relaxed);
    if (index < room) note(into->all[index], info->si_overrun, context);
  }
  into->in_progress.fetch_sub(1, std::memory_order_release);
  errno = error;
}

sampler::sampler(int workers) : looks_(std::make_unique<looks>()) {
  void* once = nullptr;
  ::backtrace(&once, 1);  // loads the unwinder, which a signal handler must not
  struct sigaction action{};
  action.sa_sigaction = &look;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigaction(SIGPROF, &action, nullptr);
  looks::current.store(looks_.get(), std::memory_order_release);
  for (const pid_t thread : threads(workers)) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event._sigev_un._tid = thread;
    timer_t timer{};
    if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
      if (errno == EINVAL) continue;  // the thread has ended
      throw std::system_error(errno, std::generic_category(), "a timer for a worker");
    }
    timers_.push_back(timer);
    const itimerspec every{{0, std::chrono::nanoseconds(period).count()},
                           {0, std::chrono::nanoseconds(period).count()}};
    ::timer_settime(timer, 0, &every, nullptr);
  }
}

sampler::~sampler() {
  for (const timer_t timer : timers_) ::timer_delete(timer);
  ::signal(SIGPROF, SIG_IGN);  // one may be on its way
  looks::current.store(nullptr, std::memory_order_release);
}

void sampler::start() noexcept {
  looks_->next.store(0, std::memory_order_relaxed);
  looks_->open.store(true, std::memory_order_release);
}

void sampler::stop() noexcept {
  looks_->open.store(false, std::memory_order_seq_cst);
  // Acquire: pairs with the release at the end of look(), to see its notes.
  while (looks_->in_progress.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
}

void sampler::collect(clock::time_point begin, clock::time_point end, profile& into) {
  const auto taken = looks_->next.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < std::min(taken, room); ++i) {
    const auto& each = looks_->all[i];
    if (each.at < begin || each.at > end) continue;
    into.missed += each.missed;
    std::vector<code_place> stack;
    for (std::size_t level = 0; level < each.size; ++level) {
      // A caller's address is its return address: the call lies before it.
      stack.push_back(place_of(reinterpret_cast<std::uintptr_t>(each.stack[level]) - (level == 0 ? 0 : 1)));
    }
    ++into.stacks[stack];
  }
  into.lost += static_cast<std::int64_t>(taken - std::min(taken, room));
  into.workers = static_cast<std::int64_t>(timers_.size());
  into.period_seconds = std::chrono::duration<double>(period).count();
}

}  // namespace teff::spawn
