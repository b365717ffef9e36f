// The functions of the OpenMP runtimes that the collector stands before. A program may have two runtimes:
// each call goes on to the runtime that the calling module would have called without the collector.
#pragma once

#include <cstddef>
#include <cstdint>

namespace teff::collect {

struct runtime {
  std::uintptr_t first, last;  // addresses of the module that calls
  bool has_ompt;  // its functions for GCC's programs stand in libomp, whose events come to ompt.cpp
  const runtime* next;
  void** real;  // by the place of a function's name among all names

  bool is_called_by(const void* caller) const {
    const auto address = reinterpret_cast<std::uintptr_t>(caller);
    return first <= address && address < last;
  }
};

// The thread's last call, or its region, went to it.
extern constinit thread_local const runtime* last_called;

const runtime& find_runtime(const void* caller);

// The runtime that the function of this return address calls.
inline const runtime& runtime_of(const void* caller) {
  return last_called != nullptr && last_called->is_called_by(caller) ? *last_called : find_runtime(caller);
}

// A call to an interposed function: where it came from, and where it goes on to.
struct incoming_call {
  const void* caller;
  const runtime& called;
  void* real;

  incoming_call(const void* from, std::size_t which)
      : caller(from), called(runtime_of(from)), real(called.real[which]) {}
  template <class Result, class... Arguments>
  Result go_on(Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(real)(arguments...);
  }
};

}  // namespace teff::collect

// The names of all interposed functions: the linker gathers them.
extern "C" [[gnu::visibility("hidden")]] const char* const __start_teff_names[];
extern "C" [[gnu::visibility("hidden")]] const char* const __stop_teff_names[];

#define TEFF_INTERPOSED extern "C" [[gnu::visibility("default")]]

// Begins the body of an interposed function.
#define TEFF_CALL(name)                                                               \
  [[gnu::section("teff_names"), gnu::used]] static const char* const own_name = name; \
  const teff::collect::incoming_call call(__builtin_return_address(0),                \
                                          static_cast<std::size_t>(&own_name - __start_teff_names))

// The arguments of functions of several signatures, all of integers and pointers, as they lie in registers
// and on the stack. A function ignores the words that it has no argument for.
#define TEFF_WORDS \
  long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l
#define TEFF_SAME_WORDS a, b, c, d, e, f, g, h, i, j, k, l

// An interposed function of any such arguments: `how` gets the call, how it goes on, and what follows.
#define TEFF_STAND_BEFORE(name, result, how, ...)                                       \
  TEFF_INTERPOSED result name(TEFF_WORDS) {                                             \
    TEFF_CALL(#name);                                                                   \
    return how(call, [&] { return call.go_on<result>(TEFF_SAME_WORDS); }, __VA_ARGS__); \
  }
