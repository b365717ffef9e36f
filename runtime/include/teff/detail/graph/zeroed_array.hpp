// A large array of zeros whose making takes no time: the system gives each page when it is first touched.
#pragma once

#include <teff/detail/exceptions.hpp>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace teff::detail {

// Of a scalar type or an atomic one: zero bytes are a T that is zero or null.
template <class T>
class zeroed_array {
 public:
  zeroed_array() = default;
  // Throws std::bad_alloc.
  explicit zeroed_array(std::size_t size) : memory_(static_cast<T*>(std::calloc(size, sizeof(T)))) {
    if (memory_ == nullptr) throw_error(std::bad_alloc());
  }
  [[nodiscard]] T* get() const noexcept { return memory_.get(); }

 private:
  struct freed {
    void operator()(T* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<T, freed> memory_;
};

}  // namespace teff::detail
