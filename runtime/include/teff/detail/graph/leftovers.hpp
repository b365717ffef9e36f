// Keys that wait for fulfilments that nobody will make, for an error that names some of them.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <vector>

namespace teff::detail {

struct leftovers {
  // How many keys an error names.
  static constexpr std::size_t most_names = 8;

  std::size_t count = 0;
  std::vector<std::string> names;  // of some, in words

  // Null if there are none.
  [[nodiscard]] std::exception_ptr error() const;
};

}  // namespace teff::detail
