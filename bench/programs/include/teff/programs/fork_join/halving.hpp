#pragma once

#include <cstdint>

namespace teff::programs {

/// A loop as recursive programs write it: halves until `block` iterations are left, then work(first, last).
template <class System, class Work>
void by_halves(std::int64_t first, std::int64_t last, std::int64_t block, const Work& work) {
  if (last - first <= block) return work(first, last);
  const std::int64_t middle = first + (last - first) / 2;
  System::invoke([&] { by_halves<System>(first, middle, block, work); },
                 [&] { by_halves<System>(middle, last, block, work); });
}

}  // namespace teff::programs
