#pragma once

#include <dispatch/dispatch.h>

#include <memory>
#include <type_traits>

namespace dispatch {

struct release {
  template <class Object>
  void operator()(Object* object) const {
    dispatch_release(object);
  }
};

/// Owns a queue or a group.
template <class Object>
using handle = std::unique_ptr<std::remove_pointer_t<Object>, release>;

/// A function of C's for a closure, which is its context.
template <class Function>
void call(void* function) {
  (*static_cast<Function*>(function))();
}

}  // namespace dispatch
