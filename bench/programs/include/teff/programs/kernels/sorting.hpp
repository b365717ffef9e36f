#pragma once

#include <cstdint>
#include <span>

namespace teff::programs {

using sort_keys = std::span<std::int32_t>;

void sort_block(sort_keys keys);
void merge_block(sort_keys a, sort_keys b, sort_keys merged);

}  // namespace teff::programs
