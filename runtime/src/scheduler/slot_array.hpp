// The memory of a worker's deque: address space for any depth, pages as they are touched.
#pragma once

#include <teff/detail/scheduler/local_deque.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace teff::detail {

class slot_array {
 public:
  // `scope_slots` for scopes and joins, `join_slots` more for joins only; behind them a page that faults.
  // Throws std::system_error if the address space can't be had.
  slot_array(std::size_t scope_slots, std::size_t join_slots)
      : scope_slots_(scope_slots),
        bytes_((scope_slots + join_slots) * sizeof(task_slot)),
        guard_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    memory_ = ::mmap(nullptr, bytes_ + guard_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED || ::mprotect(memory_, bytes_, PROT_READ | PROT_WRITE) != 0) {
      const int reason = errno;
      if (memory_ != MAP_FAILED) ::munmap(memory_, bytes_ + guard_);
      throw std::system_error(reason, std::generic_category(), "libteff: memory for a worker's deque");
    }
  }
  ~slot_array() { ::munmap(memory_, bytes_ + guard_); }
  slot_array(const slot_array&) = delete;
  slot_array& operator=(const slot_array&) = delete;

  // Zero pages: every slot's state is idle.
  [[nodiscard]] task_slot* begin() const noexcept { return static_cast<task_slot*>(memory_); }
  [[nodiscard]] task_slot* scope_limit() const noexcept { return begin() + scope_slots_; }
  // Whether this array has the slot.
  [[nodiscard]] bool owns(const task_slot* slot) const noexcept {
    return slot >= begin() &&
           reinterpret_cast<const std::byte*>(slot) < static_cast<std::byte*>(memory_) + bytes_;
  }

 private:
  std::size_t scope_slots_;
  std::size_t bytes_;
  std::size_t guard_;
  void* memory_ = nullptr;
};

}  // namespace teff::detail
