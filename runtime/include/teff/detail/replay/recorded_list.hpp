// A recorded run as one worker saw it.
#pragma once

#include <cstdint>
#include <vector>

namespace teff::detail {

// The tasks of one worker in the order in which they began, and the keys that each of them fulfilled.
template <class Key>
struct recorded_list {
  std::vector<Key> tasks;
  std::vector<Key> fulfilled;
  std::vector<std::uint32_t> fulfilled_end;  // of each task; they begin where those before it end
};

}  // namespace teff::detail
