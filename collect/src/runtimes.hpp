// The functions of the OpenMP runtimes that the collector stands before. A program may have two runtimes: each call goes on to the
// runtime that the calling module would have called without the collector.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "functions.hpp"

namespace teff::collect {

struct runtime {
  std::array<void*, number_of_functions> real;
  std::uintptr_t first, last; // addresses of the module that calls
  bool has_ompt;              // its functions for GCC's programs stand in libomp, which calls ompt.cpp
  const runtime* next;

  template <class Signature>
  Signature* call(function which) const {
    return reinterpret_cast<Signature*>(real[static_cast<std::size_t>(which)]);
  }
  bool is_called_by(const void* caller) const {
    const auto address = reinterpret_cast<std::uintptr_t>(caller);
    return first <= address && address < last;
  }
};

// What the thread's last call went to. A calibration sets it to a runtime that does nothing.
extern constinit thread_local const runtime* last_called;

const runtime& find_runtime(const void* caller);

// The runtime that the function of this return address calls.
inline const runtime& runtime_of(const void* caller) {
  return last_called != nullptr && last_called->is_called_by(caller) ? *last_called : find_runtime(caller);
}

// The header's module in which the runtime lies.
std::uint32_t module_of(const runtime& called, function which);

} // namespace teff::collect
