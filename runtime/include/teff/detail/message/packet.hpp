// Bytes on their way from rank to rank.
#pragma once

#include <teff/detail/message/argument_bytes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace teff::detail {

// A buffer that can grow, aligned for arguments. Its bytes are not initialised.
class packet {
 public:
  packet() noexcept = default;
  packet(packet&& other) noexcept
      : memory_(std::move(other.memory_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  packet& operator=(packet&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  [[nodiscard]] std::byte* data() noexcept { return memory_.get(); }
  [[nodiscard]] const std::byte* data() const noexcept { return memory_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {memory_.get(), size_}; }

  // Makes it longer by so many bytes, and returns where these are. Throws std::bad_alloc.
  std::byte* append(std::size_t more) {
    if (more > capacity_ - size_) grow(size_ + more);
    auto* const at = memory_.get() + size_;
    size_ += more;
    return at;
  }
  void cut(std::size_t size) noexcept { size_ = size; }

 private:
  struct freed {
    void operator()(std::byte* memory) const noexcept { ::operator delete(memory); }
  };
  void grow(std::size_t needed) {
    constexpr std::size_t least = 256;
    const auto capacity = std::max({needed, 2 * capacity_, least});
    // The operators for an alignment are slower in some C libraries.
    static_assert(argument_alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    std::unique_ptr<std::byte, freed> larger(static_cast<std::byte*>(::operator new(capacity)));
    if (size_ != 0) std::memcpy(larger.get(), memory_.get(), size_);
    memory_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<std::byte, freed> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace teff::detail
