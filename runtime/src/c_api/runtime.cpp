#include <teff/teff.h>
#include <teff/error.hpp>
#include <teff/runtime.hpp>

#include "c_api/status.hpp"

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
