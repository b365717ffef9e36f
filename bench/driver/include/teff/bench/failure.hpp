#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace teff::bench {

/// Bad input. what() is one line that names the value, the rule and the way out.
class usage_error : public std::invalid_argument {
  using invalid_argument::invalid_argument;
};

/// The message of an exception for the user.
inline std::string reason_of(const std::exception& failure) {
  const bool memory = dynamic_cast<const std::bad_alloc*>(&failure) != nullptr;
  return memory ? "there is not enough memory" : failure.what();
}

}  // namespace teff::bench
