// How what goes wrong crosses the C interface: as an exception on the side of C++, as a status on that of C.
#pragma once

#include <teff/teff.h>
#include <teff/error.hpp>
#include <teff/runtime.hpp>

#include <array>
#include <string>
#include <utility>

namespace teff::detail::c_api {

using error_text = std::array<char, 512>;

// A body returned this status, which is not 0. A status of libteff's takes the text along that the body's
// thread has for it, to the thread that waits.
struct stopped {
  explicit stopped(int returned) noexcept;
  int status;
  error_text text{};
};

inline void expect_ok(int returned) {
  if (returned != teff_ok) [[unlikely]]
    throw stopped(returned);
}

// The status of the exception that is being handled; its text becomes the thread's last error.
[[nodiscard, gnu::cold]] int note_exception() noexcept;

// Calls `function`; no exception gets out.
template <class F>
int status_of(F&& function) noexcept {
  try {
    std::forward<F>(function)();
    return teff_ok;
  } catch (...) {
    return note_exception();
  }
}

// `*made` is null until `function` has made the object. Throws misuse if there is no place for it.
template <class Made>
void begin_to_make(Made** made, const char* function) {
  if (made == nullptr)
    throw misuse(std::string(function) + ": `made` is NULL: there is no place for what it makes");
  *made = nullptr;
}

// Throws misuse if there is none.
template <class Handle>
Handle& existing(Handle* handle, const char* function) {
  if (handle == nullptr) throw misuse(std::string(function) + ": what it is called for is NULL");
  return *handle;
}

[[nodiscard]] runtime& runtime_of(teff_runtime& handle) noexcept;

}  // namespace teff::detail::c_api
