
#include "flow/flow_domain.hpp"

#include <algorithm>
#include <bit>

namespace teff::detail {

flow_range& flow_domain::insert(std::uintptr_t begin, std::uintptr_t end) {
  flow_range& made = ordered_.try_emplace(begin, flow_range{.begin = begin, .end = end}).first->second;
  if (2 * ordered_.size() > slots_.size()) {
    fill_slots();
  } else {
    add_slot(made);
  }
  return made;
}

void flow_domain::fill_slots() {
  const auto size = std::bit_ceil(std::max<std::size_t>(4 * ordered_.size(), 16));
  shift_ = 64U - static_cast<unsigned>(std::countr_zero(size));
  slots_.assign(size, slot{});
  for (auto& [begin, range] : ordered_) add_slot(range);
}

}  // namespace teff::detail
