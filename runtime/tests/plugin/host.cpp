// host PLUGIN...: loads all plugins at once. Then it loads each alone, uses and unloads it, and looks whether
// the handler of SIGSEGV is as it was. A handler that the host installs meanwhile must stay.
#include <dlfcn.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <thread>

namespace {

void of_the_host(int) {}

void* open_or_end(const char* plugin, int mode) {
  void* const opened = ::dlopen(plugin, mode);
  if (opened == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    std::exit(1);
  }
  return opened;
}

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::exit(1);
}

using handler = void (*)(int);
handler installed() {
  struct sigaction now = {};
  ::sigaction(SIGSEGV, nullptr, &now);
  return now.sa_handler;
}

void use_and_unload(const char* plugin, const char* function, handler meanwhile) {
  void* const opened = open_or_end(plugin, RTLD_NOW | RTLD_LOCAL);
  const auto sum = reinterpret_cast<long (*)(int)>(::dlsym(opened, function));
  expect(sum != nullptr, "the plugin has the function");
  // At the end of a thread its thread-locals of the plugin are destroyed, which keep the plugin loaded.
  std::thread([&] { expect(sum(100'000) == 4'999'950'000L, "the sum is right"); }).join();
  if (meanwhile != SIG_DFL) ::signal(SIGSEGV, meanwhile);
  ::dlclose(opened);
  expect(::dlopen(plugin, RTLD_NOW | RTLD_NOLOAD) == nullptr, "the plugin is unloaded");
  expect(installed() == meanwhile, "the handler of SIGSEGV is as it was");
  ::signal(SIGSEGV, SIG_DFL);
}

}  // namespace

int main(int count, char** plugins) {
  // All at once: their thread-locals share what the C library has reserved for plugins.
  for (int each = 1; each < count; ++each)
    static_cast<void>(open_or_end(plugins[each], RTLD_NOW | RTLD_LOCAL));
  for (int each = 1; each < count; ++each) {
    void* const opened = open_or_end(plugins[each], RTLD_NOW | RTLD_NOLOAD);
    ::dlclose(opened);
    ::dlclose(opened);
  }
  for (int each = 1; each < count; ++each) {
    for (const char* const function : {"sum_by_default_runtime", "sum_by_own_runtime"}) {
      use_and_unload(plugins[each], function, SIG_DFL);
      use_and_unload(plugins[each], function, &of_the_host);
    }
  }
  std::printf("unloaded\n");
}
