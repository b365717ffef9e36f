// The two shapes of a handler and the one of a throw, in programs that are compiled with exceptions and
// without: the only place that asks which (docs: how-to/without-exceptions.md).
#pragma once

#include <teff/detail/standard_library.hpp>

#include <cstdint>
#include <exception>
#include <utility>

namespace teff::detail {

// Says the error's text on stderr and ends the program.
[[noreturn, gnu::cold]] void end_program(const std::exception& error) noexcept;

// Throws the error; without exceptions, ends the program with its text.
template <class Error>
[[noreturn, gnu::cold]] void throw_error(Error error) {
#if defined(__cpp_exceptions)
  throw error;
#else
  end_program(error);
#endif
}

// Throws misuse: `call` was given an index, of a "worker" or "rank", that is not in [0, count).
[[noreturn, gnu::cold]] void refuse_index(const char* call, const char* of, std::int64_t index,
                                          std::int64_t count);

// Calls f(). If that throws, calls handle(), where std::current_exception() is what it threw.
template <class F, class Handle>
[[gnu::always_inline]] inline void catch_all(F&& f, [[maybe_unused]] Handle&& handle) {
#if defined(__cpp_exceptions)
  try {
    std::forward<F>(f)();
  } catch (...) {
    std::forward<Handle>(handle)();
  }
#else
  std::forward<F>(f)();
#endif
}

// Returns f(). If that throws, calls undo() before the exception goes on.
template <class F, class Undo>
[[gnu::always_inline]] inline decltype(auto) undo_if_thrown(F&& f, [[maybe_unused]] Undo&& undo) {
#if defined(__cpp_exceptions)
  try {
    return std::forward<F>(f)();
  } catch (...) {
    std::forward<Undo>(undo)();
    throw;
  }
#else
  return std::forward<F>(f)();
#endif
}

}  // namespace teff::detail
