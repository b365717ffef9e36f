// Bytes on their way from rank to rank.
#pragma once

#include <teff/detail/message/argument_bytes.hpp>

#include <cstddef>
#include <new>
#include <span>
#include <utility>

namespace teff::detail {

// A buffer that can grow, aligned for arguments. Its bytes are not initialised.
class packet {
 public:
  packet() noexcept = default;
  ~packet() {
    if (memory_ != nullptr) ::operator delete(memory_);
  }
  packet(packet&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  packet& operator=(packet&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }

  [[nodiscard]] std::byte* data() noexcept { return memory_; }
  [[nodiscard]] const std::byte* data() const noexcept { return memory_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {memory_, size_}; }

  // Makes it longer by so many bytes, and returns where these are. Throws std::bad_alloc.
  std::byte* append(std::size_t more) {
    if (more > capacity_ - size_) grow(size_ + more);
    auto* const at = memory_ + size_;
    size_ += more;
    return at;
  }
  void cut(std::size_t size) noexcept { size_ = size; }

 private:
  void grow(std::size_t needed);

  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace teff::detail
