// The sampler, for programs whose runtime no collector knows (README.md: samples). The sampler's thread looks
// once a millisecond at what each thread of the process does, and keeps the accounts of all threads.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "file.hpp"
#include "seats.hpp"

namespace teff::collect {

namespace {

// Ignored by default: if one is still to come after an exec, nothing happens.
constexpr std::array signals{SIGURG, SIGWINCH};
constexpr std::uint64_t worth_a_file = 10'000'000;  // ns of CPU time: a shell or a starter takes less
constexpr std::uint64_t patience = 1'000'000'000;   // ns: a thread that has not answered blocks the signal
constexpr std::uint64_t rest = 30;  // times the CPU time of a look, the sampler's thread sleeps after it
constexpr std::size_t most_threads = 4096;
constexpr unsigned rounds_between_scans = 8;

struct sampled {
  std::atomic<std::uintptr_t> answer{0};  // where a running thread is: by the handler in that thread
  int thread = 0;                         // 0: the entry is free
  seat* place = nullptr;                  // also if the file could not grow
  std::uint64_t asked = 0;                // in ticks; 0 if it was not asked, or has answered
  bool is_deaf = false;
};

struct table {
  std::array<sampled, most_threads> threads;
  std::size_t used;
  std::array<std::uintptr_t, 4096> addresses;  // the first one of each 64 bytes of code, as found
};

table* all;
std::uint64_t period;      // ns
int asking;                // the signal
struct sigaction program;  // what the program wants to be done at it

std::uintptr_t address_in(const void* context) {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(registers.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return registers.pc;
#else
  static_cast<void>(registers);
  return 1;
#endif
}

void on_signal(int signal, siginfo_t* info, void* context) {
  auto* const to = static_cast<sampled*>(info->si_value.sival_ptr);
  if (info->si_code == SI_QUEUE && all->threads.data() <= to && to < all->threads.data() + most_threads) {
    to->answer.store(address_in(context), std::memory_order_relaxed);  // the number alone is used
  } else if ((program.sa_flags & SA_SIGINFO) != 0) {
    program.sa_sigaction(signal, info, context);
  } else if (program.sa_handler != SIG_DFL && program.sa_handler != SIG_IGN) {
    program.sa_handler(signal);
  }
}

// The first signal that the program does not take for itself. If the program takes all, as Go does, it gets
// the first after the sampler, and one of the two is lost if both are pending: the kernel keeps one of each
// number.
void take_signal() {
  struct sigaction present{};
  const auto is_free = [&](int signal) {
    return sigaction(signal, nullptr, &present) == 0 &&
           (present.sa_sigaction == on_signal || present.sa_handler == SIG_DFL ||
            present.sa_handler == SIG_IGN);
  };
  const auto* const found = std::find_if(signals.begin(), signals.end(), is_free);
  asking = found == signals.end() ? signals.front() : *found;
  if (sigaction(asking, nullptr, &present) != 0 || present.sa_sigaction == on_signal) return;
  program = present;
  present.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  present.sa_sigaction = on_signal;
  sigaction(asking, &present, nullptr);
}

// False if the thread can't be asked.
bool ask(sampled& one) {
  siginfo_t info{};
  info.si_signo = asking;
  info.si_code = SI_QUEUE;
  info.si_value.sival_ptr = &one;
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), one.thread, asking, &info) == 0;
}

// The main thread stays when it has ended, without a stack.
bool has_ended(const char* call) {
  return std::strncmp(call, "-1 0x0 0x0", 10) == 0;
}

// A lock's word is 2 while threads wait for the lock, in the C library and in Rust's. The words of condition
// variables and semaphores are not 2.
state why_blocked(const char* call) {
  if (has_ended(call)) return state::absent;
  long number = 0;
  std::array<unsigned long, 3> words{};
  if (std::sscanf(call, "%ld %lx %lx %lx", &number, &words[0], &words[1], &words[2]) < 4) return state::wait;
  const auto operation = words[1] & FUTEX_CMD_MASK;
  const bool waits = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
  const bool locks = (waits && words[2] == 2) || operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2;
  return number == SYS_futex && locks ? state::lock : state::wait;
}

state why_running(std::uintptr_t address) {
  static const auto yields = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_NEXT, "sched_yield"));
  constexpr std::uintptr_t length = 32;
  if (yields <= address && address < yields + length) return state::wait;
  const growing held;
  const char* path = head()->modules[module_of(reinterpret_cast<const void*>(address))].path.data();
  const char* name = std::strrchr(path, '/') == nullptr ? path : std::strrchr(path, '/') + 1;
  for (const char* runtime : {"libtbb.", "libgomp.", "libomp.", "libiomp5.", "libjvm."}) {
    if (std::strncmp(name, runtime, std::strlen(runtime)) == 0) return state::runtime;
  }
  return state::body;
}

// The thread has answered where it was when it was asked. It was there since the look before.
void take_answer(sampled& one, std::uintptr_t address) {
  std::uintptr_t& known = all->addresses[(address >> 6) % all->addresses.size()];
  if (known >> 6 != address >> 6) known = address;
  const auto until = std::max(one.asked, one.place->since());
  const state found = why_running(address);
  if (found == state::body) {
    activation sample;
    sample.what = kind::sample;
    sample.address = reinterpret_cast<const void*>(known + 1);  // as if it were a return address
    sample.own = until - one.place->since();
    one.place->account(sample);
  }
  one.place->label(found);
  one.place->enter(state::body, until);
  one.asked = 0;
  one.is_deaf = false;
}

void forget(sampled& one) {
  vacate(*one.place, ticks());
  one.place = nullptr;
  one.thread = 0;
}

// `again`: a question without an answer is repeated. It is lost if a signal of the program's was pending
// then, as the kernel keeps one of each number.
void look_at(sampled& one, int folder, bool again) {
  if (const auto address = one.answer.exchange(0, std::memory_order_relaxed)) take_answer(one, address);
  std::array<char, 32> name{};
  std::array<char, 256> call{};
  std::snprintf(name.data(), name.size(), "%d/syscall", one.thread);
  if (!read_text(folder, name.data(), call)) return forget(one);
  const auto now = ticks();
  one.is_deaf = one.is_deaf || (one.asked != 0 && now - one.asked > ticks_of(patience));
  if (std::strncmp(call.data(), "running", 7) == 0) {
    if (one.asked == 0 && !one.is_deaf) {
      one.asked = ask(one) ? now : 0;
    } else if (again && !one.is_deaf) {
      ask(one);
    }
    one.place->label(state::body);
  } else if (one.asked == 0 || one.is_deaf) {
    one.place->label(why_blocked(call.data()));
    one.place->enter(one.place->doing(), now);
  }
}

void meet(int thread) {
  sampled* free = nullptr;
  for (std::size_t i = 0; i < all->used; ++i) {
    if (all->threads[i].thread == thread) return;
    if (all->threads[i].thread == 0) free = &all->threads[i];
  }
  if (free == nullptr && all->used < most_threads) free = &all->threads[all->used++];
  if (free == nullptr) return;
  new (free) sampled;
  free->thread = thread;
  free->place = seat_of(static_cast<std::uint32_t>(thread));
  if (free->place != nullptr) free->place->take_part();
}

void look_for_threads(int folder) {
  struct entry {  // as the kernel gives them
    std::uint64_t number, offset;
    unsigned short length;
    unsigned char type;
    char name[1];
  };
  alignas(entry) std::array<char, 4096> content{};
  for (long size = 0; (size = syscall(SYS_getdents64, folder, content.data(), content.size())) > 0;) {
    for (long at = 0; at < size;) {
      const auto* one = reinterpret_cast<const entry*>(content.data() + at);
      const int thread = std::atoi(one->name);
      if (thread != 0 && thread != gettid()) meet(thread);
      at += one->length;
    }
  }
}

void sleep_for(std::uint64_t length) {
  const timespec time{static_cast<time_t>(length / 1'000'000'000), static_cast<long>(length % 1'000'000'000)};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

// All other threads have ended: the main thread stays among them. A process ends with its last thread, so the
// sampler's ends then.
bool is_alone() {
  struct stat threads{};
  std::array<char, 64> call{};
  return stat("/proc/self/task", &threads) == 0 && threads.st_nlink == 2 + 2 &&
         read_text(AT_FDCWD, "/proc/self/syscall", call) && has_ended(call.data());
}

// Its own table of files is empty, so it neither keeps a file of the program open nor takes a number from it.
// A container may forbid that: then no file is open but for a moment.
void* watch(void*) {
  const auto of_program = [] {
    return nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  };
  while (of_program() < worth_a_file) {
    sleep_for(period);
    if (is_alone()) return nullptr;
  }
  if (unshare(CLONE_FILES) == 0) syscall(SYS_close_range, 0U, ~0U, 0U);
  {
    const growing held;
    if (!open_file()) return nullptr;
  }
  std::uint64_t random = 1;
  bool grows = true;  // the last look for threads found new ones
  for (unsigned round = 0;; ++round) {
    const auto begin = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    const bool scans = grows || round % rounds_between_scans == 0;
    const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (scans && is_alone()) return nullptr;
    if (folder >= 0 && scans) {
      const auto before = all->used;
      take_signal();
      look_for_threads(folder);
      grows = all->used != before;
    }
    for (std::size_t i = 0; i < all->used && folder >= 0; ++i) {
      if (all->threads[i].place != nullptr) look_at(all->threads[i], folder, scans);
    }
    close(folder);
    note_clock();
    // Three to five quarters of the period: a program may have the same one.
    random = random * 6364136223846793005 + 1442695040888963407;
    sleep_for(std::max(period * 3 / 4 + (random >> 33) % (period / 2),
                       rest * (nanoseconds(CLOCK_THREAD_CPUTIME_ID) - begin)));
  }
}

void begin_sampling() {
  all->used = 0;
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, std::size_t{1} << 18);  // the program may have little memory
  pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
  pthread_t sampler;
  pthread_create(&sampler, &small, watch, nullptr);
  pthread_attr_destroy(&small);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

[[gnu::constructor]] void on_load() {
  const char* microseconds = std::getenv("TEFF_SAMPLE");
  if (microseconds == nullptr || std::getenv("TEFF_COLLECT") == nullptr) return;
  period = std::max(std::strtoull(microseconds, nullptr, 10), 100ULL) * 1000;
  all = static_cast<table*>(pages(sizeof(table)));
  if (all == nullptr) return;
  only_samples = true;
  begin_sampling();
  pthread_atfork(nullptr, nullptr, begin_sampling);
}

}  // namespace

}  // namespace teff::collect
