#include <teff/error.hpp>
#include <teff/scope.hpp>

namespace teff::detail {

void refuse_to_wait() {
  throw misuse(
      "teff::scope: waited for on another worker than its own, from within a join, or while a scope made "
      "later has tasks; it could never end");
}

template class scope_tasks<calling_worker>;
template class basic_scope<calling_worker>;

}  // namespace teff::detail
