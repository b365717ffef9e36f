#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace teff::programs {

/// The memory that programs compute on: elements on separate cache lines, each written once before the timed
/// region.
template <class T>
class buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  struct untouched {};  // memory as the allocator gives it, for data that a program makes while it runs

  buffer() = default;
  buffer(std::int64_t count, untouched)
      : count_(static_cast<std::size_t>(count)),
        data_(static_cast<T*>(operator new(count_ * sizeof(T), std::align_val_t(line)))) {}
  explicit buffer(std::int64_t count, T value = T()) : buffer(count, untouched()) {
    for (T& each : *this) each = value;
  }

  [[nodiscard]] T& operator[](std::int64_t i) const { return data_.get()[i]; }
  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(count_); }
  [[nodiscard]] T* begin() const { return data_.get(); }
  [[nodiscard]] T* end() const { return data_.get() + count_; }
  [[nodiscard]] explicit operator bool() const { return data_ != nullptr; }

 private:
  static constexpr std::size_t line = 64;
  struct release {
    void operator()(T* memory) const { operator delete(memory, std::align_val_t(line)); }
  };

  std::size_t count_ = 0;
  std::unique_ptr<T, release> data_;
};

/// A number that looks random, the same for the same `of` (the finaliser of splitmix64).
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t of) {
  of += 0x9e3779b97f4a7c15;
  of = (of ^ (of >> 30)) * 0xbf58476d1ce4e5b9;
  of = (of ^ (of >> 27)) * 0x94d049bb133111eb;
  return of ^ (of >> 31);
}

/// The same in [0, 1).
[[nodiscard]] constexpr double mixed_share(std::uint64_t of) {
  return static_cast<double>(mixed(of) >> 11) * 0x1p-53;
}

/// One number for a whole result, bit by bit.
class fingerprint {
 public:
  template <class T>
    requires std::is_integral_v<T>
  void add(T value) {
    state_ = mixed(state_ ^ static_cast<std::uint64_t>(value));
  }
  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  void add(float value) { add(std::bit_cast<std::uint32_t>(value)); }
  template <class T>
  void add_all(const buffer<T>& values) {
    for (const T& each : values) add(each);
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

template <class T>
[[nodiscard]] std::uint64_t fingerprint_of(const buffer<T>& values) {
  fingerprint all;
  all.add_all(values);
  return all.value();
}

}  // namespace teff::programs
