// The stacks on which a worker's tasks run: its own thread's, and one for guests (guests.md, "The stack").
#pragma once

#include "platform/call_stack.hpp"
#include "platform/stack_overflow.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace teff::detail {

// Used by the thread that is the worker.
class worker_stack {
 public:
  static constexpr auto* more_stack =
      "teff::runtime_options::stack_size or TEFF_STACK_SIZE gives the workers more";

  explicit worker_stack(std::size_t size) noexcept : size_(size) {}

  // On the worker's own thread, at the bottom of its stack.
  void begin() noexcept {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    middle_ = own_middle_ = reinterpret_cast<const std::byte*>(here - size_ / 2);
  }
  // Whether less than half of the stack that the worker is on is used.
  [[nodiscard]] bool has_room() const noexcept {
    return static_cast<const std::byte*>(__builtin_frame_address(0)) > middle_;
  }

  // Whether there is a stack for guests; the first guest makes it.
  [[nodiscard]] bool has_one_for_guests(unsigned worker) noexcept {
    try {
      if (!guests_) guests_.emplace(size_, worker);
    } catch (const std::exception&) {
      return false;
    }
    return true;
  }
  // Calls f(), which does not throw, on that stack.
  template <class F>
  void call_as_guest(F f) noexcept {
    middle_ = guests_->calls.memory().begin() + size_ / 2;
    const watched_stack on_it(guests_->line);
    guests_->calls.call([](void* what) noexcept { (*static_cast<F*>(what))(); }, &f);
    middle_ = own_middle_;
  }

 private:
  struct for_guests {
    for_guests(std::size_t size, unsigned worker)
        : calls(size),
          line(calls.memory(), ("a calling thread, as worker " + std::to_string(worker) + ",").c_str(),
               more_stack) {}
    call_stack calls;
    stack_overflow_line line;
  };

  const std::size_t size_;
  const std::byte* middle_ = nullptr;
  const std::byte* own_middle_ = nullptr;
  std::optional<for_guests> guests_;
};

}  // namespace teff::detail
