#pragma once

#include <cstdint>

#include "teff/apps/ways.hpp"

namespace teff::apps {

/// Steps as tasks. A system says how a task is made.
///
/// Steps and fields are cut into the same parts, and a task has one part of a step. So the accesses of all
/// tasks begin and end where parts do, and a system looks after few pieces of a field.
class task_way : public way {
 public:
  /// A step is cut into so many parts.
  explicit task_way(std::int64_t parts) : parts_(parts) {}

  void run(const step& each) final {
    const cut all(each.count, parts_);
    for (std::int64_t i = 0; i < all.parts(); ++i) {
      each.accesses(all.part(i), accesses_);
      widen(accesses_, parts_);
      make(each, all.part(i), accesses_);
    }
  }

 protected:
  /// Makes the task that runs these iterations of a step.
  virtual void make(const step& of, range some, const access_list& accesses) = 0;
  [[nodiscard]] std::int64_t parts() const { return parts_; }

 private:
  std::int64_t parts_;
  access_list accesses_;
};

}  // namespace teff::apps
