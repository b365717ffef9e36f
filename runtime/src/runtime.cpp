#include <teff/runtime.hpp>

#include "scheduler.hpp"

namespace teff {

runtime_was_shut_down::runtime_was_shut_down()
    : misuse("teff::runtime: used after its shutdown; its workers have ended") {}

runtime::runtime(const options& given)
    : scheduler_(new detail::scheduler(given), [](detail::scheduler* owned) noexcept { delete owned; }) {}

runtime::~runtime() = default;

void runtime::shutdown() {
  scheduler_->shut_down();
}

unsigned runtime::workers() const noexcept {
  return static_cast<unsigned>(scheduler_->workers().size());
}

counters runtime::counters() const noexcept {
  return scheduler_->counted();
}

}  // namespace teff
