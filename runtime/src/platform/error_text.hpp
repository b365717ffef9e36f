// The text of an exception, for reports.
#pragma once

#include <exception>
#include <string>

namespace teff::detail {

inline std::string words_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace teff::detail
