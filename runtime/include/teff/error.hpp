// The errors that libteff itself throws.
#pragma once

#include <stdexcept>

namespace teff {

// The program uses the library in a way that can't work; the message says which way.
struct misuse : std::logic_error {
  using std::logic_error::logic_error;
};

// A runtime was used after its shutdown.
struct runtime_was_shut_down : misuse {
  runtime_was_shut_down();
};

// An option can't be honoured: a TEFF_* variable that is not a number, more workers than there is room for.
struct invalid_option : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace teff
