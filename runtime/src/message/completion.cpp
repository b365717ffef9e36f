#include "message/completion.hpp"

namespace teff::detail {

void completion::begin() noexcept {
  wave_ = 0;
  last_.reset();
  new_wave();
}

void completion::new_wave() noexcept {
  ++wave_;
  parts_ = 0;
  own_given_ = false;
  sums_ = {};
}

void completion::reported(const completion_counts& part) noexcept {
  ++parts_;
  sums_ += part;
}

void completion::asked() noexcept {
  new_wave();
}

completion::action completion::passive(const completion_counts& own) noexcept {
  own_given_ = true;
  sums_ += own;
  if (!tree_.is_root()) return action::report;
  // completion.md proves that nothing is left then.
  if (last_ && last_->handled == sums_.sent) return action::end;
  last_ = sums_;
  new_wave();
  return action::ask;
}

}  // namespace teff::detail
