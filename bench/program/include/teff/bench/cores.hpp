#pragma once

namespace teff::bench {

/// Cores that this process may use (its affinity mask).
[[nodiscard]] int usable_cores();

/// Binds the calling thread to the index-th (modulo their number) of the cores this process may use.
void bind_to_core(int index);

}  // namespace teff::bench
