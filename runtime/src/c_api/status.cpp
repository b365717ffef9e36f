#include "c_api/status.hpp"

#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <system_error>

namespace teff::detail::c_api {

namespace {

// Made at the first error, since all plugins of a program share some hundred bytes for thread-locals.
thread_local std::unique_ptr<error_text> last_error;
constinit thread_local int last_status = teff_ok;  // that the text is of

int note(int status, const char* what) noexcept {
  if (last_error == nullptr) last_error.reset(new (std::nothrow) error_text);
  if (last_error != nullptr) std::snprintf(last_error->data(), last_error->size(), "%s", what);
  return last_status = status;
}

template <class Error>
bool is(const std::exception& error) noexcept {
  return dynamic_cast<const Error*>(&error) != nullptr;
}

int status_of_error(const std::exception& error) noexcept {
  if (is<forked_process>(error)) return teff_forked_process;
  if (is<over_fulfilled>(error)) return teff_over_fulfilled;
  if (is<never_satisfied>(error)) return teff_never_satisfied;
  if (is<graph_waits_for_itself>(error)) return teff_graph_waits_for_itself;
  if (is<misuse>(error)) return teff_misused;
  if (is<invalid_option>(error)) return teff_invalid_option;
  return is<std::system_error>(error) ? teff_system_error : teff_exception;
}

}  // namespace

stopped::stopped(int returned) noexcept : status(returned) {
  if (returned == last_status && last_error != nullptr) {
    text = *last_error;
  } else {
    std::snprintf(text.data(), text.size(), "a body returned %d", returned);
  }
}

int note_exception() noexcept {
  try {
    throw;
  } catch (const stopped& by_body) {
    return note(by_body.status, by_body.text.data());
  } catch (const std::bad_alloc&) {
    return note(teff_out_of_memory, "there is no memory");
  } catch (const std::exception& error) {
    return note(status_of_error(error), error.what());
  } catch (...) {
    return note(teff_exception, "a body threw something that is no std::exception");
  }
}

}  // namespace teff::detail::c_api

const char* teff_last_error() {
  using teff::detail::c_api::last_error, teff::detail::c_api::last_status;
  if (last_error != nullptr) return last_error->data();
  return last_status == teff_ok ? "" : "there is no memory for the error's text";
}

const char* teff_version() {
  return teff::version();
}
