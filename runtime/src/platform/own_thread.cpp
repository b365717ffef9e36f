#include "platform/own_thread.hpp"

#include <system_error>
#include <utility>

namespace teff::detail {

void own_thread::start(std::function<void()> body, std::size_t stack_size) {
  body_ = std::move(body);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  int failed = stack_size == 0 ? 0 : ::pthread_attr_setstacksize(&attributes, stack_size);
  if (failed == 0) {
    failed = ::pthread_create(
        &thread_, &attributes,
        [](void* self) -> void* {
          static_cast<const own_thread*>(self)->body_();
          return nullptr;
        },
        this);
  }
  ::pthread_attr_destroy(&attributes);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), "libteff: starting a thread");
  is_started_ = true;
}

void own_thread::join() noexcept {
  if (std::exchange(is_started_, false)) ::pthread_join(thread_, nullptr);
}

}  // namespace teff::detail
