#include "runtimes.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <new>

#include "file.hpp"

namespace teff::collect {

constinit thread_local const runtime* last_called = nullptr;

namespace {

std::atomic<const runtime*> known{nullptr};
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of those who add to `known`

// As the dynamic linker finds it: among the modules of the whole program, then among those that the calling module names. A
// module that was loaded for itself, as Python does, has its runtime there.
void* find_function(const char* name, void* module) {
  void* found = dlsym(RTLD_NEXT, name);
  return found == nullptr && module != nullptr ? dlsym(module, name) : found;
}

const void* library_of(void* function) {
  Dl_info info{};
  return function != nullptr && dladdr(function, &info) != 0 ? info.dli_fbase : nullptr;
}

runtime* look_up(const void* caller) {
  auto* made = static_cast<runtime*>(pages(sizeof(runtime)));
  if (made == nullptr) return nullptr;
  Dl_info info{};
  link_map* map = nullptr;
  void* module = nullptr;
  if (dladdr1(caller, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 && map->l_name[0] != '\0') {
    // The handle stays open: the module's addresses go on to mean this module, here and in the file.
    module = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  }
  for (std::size_t i = 0; i < number_of_functions; ++i) made->real[i] = find_function(function_names[i], module);
  const void* const library = library_of(made->real[static_cast<std::size_t>(function::GOMP_parallel)]);
  made->has_ompt = library != nullptr && library == library_of(find_function("__kmpc_fork_call", module));
  return made;
}

struct range {
  std::uintptr_t address, first, last;
};

int look_at_module(dl_phdr_info* info, std::size_t, void* argument) {
  auto& wanted = *static_cast<range*>(argument);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::uintptr_t first = info->dlpi_addr + segment.p_vaddr, last = first + segment.p_memsz;
    if (segment.p_type == PT_LOAD && first <= wanted.address && wanted.address < last) {
      wanted.first = first;
      wanted.last = last;
      return 1;
    }
  }
  return 0;
}

} // namespace

const runtime& find_runtime(const void* caller) {
  // Acquire: pairs with the store below.
  for (const runtime* one = known.load(std::memory_order_acquire); one != nullptr; one = one->next) {
    if (one->is_called_by(caller)) return *(last_called = one);
  }
  const int program_errno = errno;
  runtime* made = look_up(caller);
  if (made == nullptr) __builtin_trap(); // no memory for the addresses of functions: the call can't go on
  range segment{reinterpret_cast<std::uintptr_t>(caller), 0, 0};
  if (dl_iterate_phdr(look_at_module, &segment) == 0) { // compiled at run time, into pages of no module
    segment.first = segment.address & ~std::uintptr_t{0xffff};
    segment.last = segment.first + 0x10000;
  }
  made->first = segment.first;
  made->last = segment.last;
  pthread_mutex_lock(&lock);
  made->next = known.load(std::memory_order_relaxed); // only threads with the lock store to it
  known.store(made, std::memory_order_release);       // pairs with the load above
  pthread_mutex_unlock(&lock);
  errno = program_errno;
  return *(last_called = made);
}

std::uint32_t module_of(const runtime& called, function which) {
  const growing held;
  return head() == nullptr ? 0 : module_of(called.real[static_cast<std::size_t>(which)]);
}

} // namespace teff::collect
