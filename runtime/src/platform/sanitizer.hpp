// Whether the program and this library agree on the ThreadSanitizer.
#pragma once

namespace teff::detail {

// Says so on stderr, once in a process, if the program runs under ThreadSanitizer and this library was not
// compiled for it.
void warn_of_false_races() noexcept;

}  // namespace teff::detail
