#include "runtimes.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "file.hpp"

namespace teff::collect {

constinit thread_local const runtime* last_called = nullptr;

namespace {

// The linker's names of the first and last address of this library.
extern "C" [[gnu::visibility("hidden")]] const char __ehdr_start[], _end[];

std::atomic<const runtime*> known{nullptr};

// As the dynamic linker finds it: among the modules of the whole program, then among those that the calling
// module names. A module that was loaded for itself, as Python does, has its runtime there.
void* find_function(const char* name, void* module) {
  void* found = dlsym(RTLD_NEXT, name);
  return found == nullptr && module != nullptr ? dlsym(module, name) : found;
}

const void* library_of(const char* name, void* module) {
  Dl_info info{};
  void* function = find_function(name, module);
  return function != nullptr && dladdr(function, &info) != 0 ? info.dli_fbase : nullptr;
}

runtime* look_up(const void* caller) {
  const auto names = static_cast<std::size_t>(__stop_teff_names - __start_teff_names);
  auto* made = static_cast<runtime*>(pages(sizeof(runtime) + names * sizeof(void*)));
  if (made == nullptr) __builtin_trap();  // no memory for the addresses of functions: the call can't go on
  Dl_info info{};
  link_map* map = nullptr;
  void* module = nullptr;
  if (dladdr1(caller, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 &&
      map->l_name[0] != '\0') {
    // The handle stays open: the module's addresses go on to mean this module, here and in the file.
    module = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  }
  made->real = reinterpret_cast<void**>(made + 1);
  for (std::size_t i = 0; i < names; ++i) made->real[i] = find_function(__start_teff_names[i], module);
  const void* const library = library_of("GOMP_parallel", module);
  dlerror();  // a runtime lacks functions of others: no error of the program
  made->has_ompt = library != nullptr && library == library_of("__kmpc_fork_call", module);
  const auto calling = describe_module(caller);
  made->first = calling.begin;
  made->last = calling.end;
  return made;
}

}  // namespace

const runtime& find_runtime(const void* caller) {
  // A body that ends by a call has left its frame: the call seems to come from run_body(), which set
  // last_called.
  const auto address = static_cast<const char*>(caller);
  if (__ehdr_start <= address && address < _end) return *last_called;
  // Acquire: pairs with the store below.
  for (const runtime* one = known.load(std::memory_order_acquire); one != nullptr; one = one->next) {
    if (one->is_called_by(caller)) return *(last_called = one);
  }
  const int program_errno = errno;
  runtime* made = look_up(caller);  // without `growing`: the dynamic linker takes further locks
  errno = program_errno;
  const growing held;
  made->next = known.load(std::memory_order_relaxed);  // only threads that hold `growing` store to it
  known.store(made, std::memory_order_release);        // pairs with the load above
  return *(last_called = made);
}

}  // namespace teff::collect
