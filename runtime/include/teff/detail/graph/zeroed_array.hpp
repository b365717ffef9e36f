// A large array of zeros whose making takes no time: the system gives each page when it is first touched.
#pragma once

#include <teff/detail/exceptions.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace teff::detail {

// Whether an object of zero bytes is one whose value is zero or null.
template <class T>
inline constexpr bool is_zero_in_bytes = std::is_scalar_v<T>;
template <class T>
inline constexpr bool is_zero_in_bytes<std::atomic<T>> = std::is_scalar_v<T>;

template <class T, bool = is_zero_in_bytes<T>>
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

// Any other type has to be constructed, such as the checker's stand-in for an atomic.
template <class T>
class zeroed_array<T, false> {
 public:
  zeroed_array() = default;
  explicit zeroed_array(std::size_t size) : memory_(new T[size]{}) {}
  [[nodiscard]] T* get() const noexcept { return memory_.get(); }

 private:
  std::unique_ptr<T[]> memory_;
};

}  // namespace teff::detail
