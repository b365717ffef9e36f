// Runtimes, loops and scopes for C.
#include <teff/teff.h>
#include <teff/error.hpp>
#include <teff/loops.hpp>
#include <teff/runtime.hpp>
#include <teff/scope.hpp>

#include "c_api/status.hpp"

#include <cstdint>
#include <memory>
#include <new>

using namespace teff::detail::c_api;

struct teff_runtime {
  teff::runtime workers;
};

teff::runtime& teff::detail::c_api::runtime_of(teff_runtime& handle) noexcept {
  return handle.workers;
}

int teff_runtime_make(unsigned workers, teff_runtime** made) {
  return status_of([=] {
    begin_to_make(made, "teff_runtime_make");
    *made = new teff_runtime{teff::runtime{teff::runtime_options{.workers = workers}}};
  });
}

int teff_runtime_end(teff_runtime* runtime) {
  if (runtime == nullptr) return teff_ok;
  return status_of([=] {
    try {
      runtime->workers.shutdown();
    } catch (const teff::forked_process&) {  // nothing is to be ended here
    }
    delete runtime;
  });
}

unsigned teff_runtime_workers(const teff_runtime* runtime) {
  return runtime == nullptr ? 0 : runtime->workers.workers();
}

int teff_run(teff_runtime* runtime, int (*body)(void* context), void* context) {
  return status_of([=] {
    if (runtime == nullptr || body == nullptr)
      throw teff::misuse("teff_run: the runtime or the body is NULL");
    runtime->workers.run([=] { expect_ok(body(context)); });
  });
}

int teff_worker_index() {
  const auto index = teff::worker_index();
  return index ? static_cast<int>(*index) : -1;
}

// ---- Loops and scopes ----

namespace {

static_assert(sizeof(teff::scope) <= sizeof(teff_scope) && alignof(teff::scope) <= alignof(teff_scope));

teff::scope& of(teff_scope* handle) noexcept {
  return *std::launder(reinterpret_cast<teff::scope*>(handle->held));
}

// Waits. False: it may not do so here, and the scope goes on.
bool ends(teff::scope& scope, int& status) noexcept {
  status = status_of([&] { scope.wait(); });
  if (status != teff_misused) return true;
  // Did wait() refuse, or a body return this? It refuses again; a scope that has ended has nothing to wait
  // for.
  return status_of([&] { scope.wait(); }) == teff_ok;
}

}  // namespace

int teff_parallel_for(int64_t first, int64_t last, size_t grain,
                      int (*body)(int64_t begin, int64_t end, void* context), void* context) {
  return status_of([=] {
    if (body == nullptr) throw teff::misuse("teff_parallel_for: the body is NULL");
    teff::parallel_for(first, last,
                       [=](std::int64_t begin, std::int64_t end) { expect_ok(body(begin, end, context)); },
                       {.grain = grain});
  });
}

void teff_scope_begin(teff_scope* scope) {
  new (scope->held) teff::scope;
}

int teff_scope_spawn(teff_scope* scope, int (*task)(void* context), void* context) {
  return status_of([=] {
    of(scope).spawn([=] {
      if (task == nullptr) throw teff::misuse("teff_scope_spawn: the task is NULL");
      expect_ok(task(context));
    });
  });
}

void teff_scope_cancel(teff_scope* scope) {
  of(scope).cancel();
}

int teff_scope_cancelled(const teff_scope* scope) {
  return of(const_cast<teff_scope*>(scope)).cancelled() ? 1 : 0;
}

int teff_scope_end(teff_scope* scope) {
  int status = teff_ok;
  if (ends(of(scope), status)) std::destroy_at(&of(scope));
  return status;
}
