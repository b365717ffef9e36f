#pragma once

namespace teff::bench {

/// Cores that this process may use (its affinity mask).
[[nodiscard]] int usable_cores();

/// The workers that were asked for, of a system that has no more of them than cores. Throws usage_error where
/// they are more.
[[nodiscard]] int no_more_than_cores(int workers, const char* system);

/// Binds the calling thread to the index-th (modulo their number) of the cores this process may use.
void bind_to_core(int index);

}  // namespace teff::bench
