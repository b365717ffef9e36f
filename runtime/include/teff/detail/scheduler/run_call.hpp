// A call of runtime::run() on its way to a worker and back.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/results.hpp>
#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/tracing.hpp>

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace teff::detail {

// A call of run(), on the caller's stack.
template <class F>
struct call : awaited_job {
  using result = value_t<F>;

  explicit call(std::remove_reference_t<F>& f) noexcept
      : awaited_job{{[](job& this_job) noexcept {
          auto& me = static_cast<call&>(this_job);
          catch_all(
              [&] {
                const traced_span span(event_kind::run, name_of<std::remove_cvref_t<F>>());
                ::new (static_cast<void*>(std::addressof(me.value)))
                    kept_t<result>(kept_value_of<F>(me.function));
              },
              [&] { me.error = std::current_exception(); });
          me.ended.come();
        }}},
        function(f) {}
  ~call() {}

  result take() {
    if (error) std::rethrow_exception(std::move(error));
    if constexpr (std::is_reference_v<result>) {
      return static_cast<result>(*value);
    } else {
      result taken = std::move(value);
      std::destroy_at(std::addressof(value));
      return taken;
    }
  }

  std::remove_reference_t<F>& function;
  std::exception_ptr error;
  union {
    kept_t<result> value;
  };
};

}  // namespace teff::detail
