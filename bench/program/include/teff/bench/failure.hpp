#pragma once

#include <exception>
#include <new>
#include <string>

namespace teff::bench {

/// What an exception says to a person.
inline std::string reason_of(const std::exception& failure) {
  const bool memory = dynamic_cast<const std::bad_alloc*>(&failure) != nullptr;
  return memory ? "there is not enough memory" : failure.what();
}

}  // namespace teff::bench
