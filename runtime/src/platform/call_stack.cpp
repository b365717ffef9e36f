#include "platform/call_stack.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <system_error>

// AddressSanitizer's, of <sanitizer/common_interface_defs.h>. Weak: a program that is compiled for it has
// them, whether or not this library is.
extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, std::size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** old_bottom,
                                                   std::size_t* old_size);
}

// Keeps the stack pointer in a register that the called function preserves; the unwinder, too, finds the
// caller's frame by that register.
#if defined(__x86_64__) && defined(__LP64__)
#define TEFF_CALLS_ON_STACKS
asm(R"(
.pushsection .text
.type teff_call_on_stack, @function
.hidden teff_call_on_stack
.globl teff_call_on_stack
teff_call_on_stack:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdx, %rsp
  movq %rdi, %rax
  movq %rsi, %rdi
  callq *%rax
  movq %rbp, %rsp
  popq %rbp
  .cfi_def_cfa %rsp, 8
  retq
  .cfi_endproc
.size teff_call_on_stack, . - teff_call_on_stack
.popsection
)");
#elif defined(__aarch64__)
#define TEFF_CALLS_ON_STACKS
asm(R"(
.pushsection .text
.type teff_call_on_stack, %function
.hidden teff_call_on_stack
.globl teff_call_on_stack
teff_call_on_stack:
  .cfi_startproc
  stp x29, x30, [sp, #-16]!
  .cfi_def_cfa_offset 16
  .cfi_offset x29, -16
  .cfi_offset x30, -8
  mov x29, sp
  .cfi_def_cfa_register x29
  mov sp, x2
  mov x3, x0
  mov x0, x1
  blr x3
  mov sp, x29
  ldp x29, x30, [sp], #16
  .cfi_def_cfa sp, 0
  .cfi_restore x29
  .cfi_restore x30
  ret
  .cfi_endproc
.size teff_call_on_stack, . - teff_call_on_stack
.popsection
)");
#endif

#if defined(TEFF_CALLS_ON_STACKS)
extern "C" void teff_call_on_stack(void (*function)(void*) noexcept, void* argument, void* top) noexcept;
#endif

namespace teff::detail {

#if defined(TEFF_CALLS_ON_STACKS)
const bool call_stack::available = true;

namespace {

bool under_asan() noexcept {
  return __sanitizer_start_switch_fiber != nullptr && __sanitizer_finish_switch_fiber != nullptr;
}

// AddressSanitizer is told of both changes of the stack.
struct switched_call {
  void (*function)(void*) noexcept;
  void* argument;
  const void* bottom = nullptr;  // of the caller's stack
  std::size_t size = 0;

  static void run(void* call) noexcept {
    auto& me = *static_cast<switched_call*>(call);
    if (under_asan()) __sanitizer_finish_switch_fiber(nullptr, &me.bottom, &me.size);
    me.function(me.argument);
    if (under_asan()) __sanitizer_start_switch_fiber(nullptr, me.bottom, me.size);
  }
};

}  // namespace

void call_stack::call(void (*function)(void*) noexcept, void* argument) noexcept {
  switched_call call{function, argument};
  void* fake_stack = nullptr;
  if (under_asan()) __sanitizer_start_switch_fiber(&fake_stack, memory_.begin(), memory_.size());
  teff_call_on_stack(&switched_call::run, &call, memory_.end());
  if (under_asan()) __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
}
#else
const bool call_stack::available = false;

void call_stack::call(void (*)(void*) noexcept, void*) noexcept {}
#endif

call_stack::call_stack(std::size_t size) : memory_(size, "a stack for calls", MAP_STACK) {
  if (!available) throw std::system_error(ENOTSUP, std::generic_category(), "libteff: a stack for calls");
}

}  // namespace teff::detail
