#include <teff/detail/scheduler/process.hpp>
#include <teff/error.hpp>
#include <teff/scope.hpp>

namespace teff::detail {

void refuse_to_wait() {
  if (was_forked_by_worker()) throw forked_process();
  throw misuse(
      "teff::scope: waited for on another worker than its own, from within a join, or before the end of a "
      "scope or fork that was made later: end that one first");
}

template class scope_tasks<calling_worker>;
template class basic_scope<calling_worker>;

}  // namespace teff::detail
