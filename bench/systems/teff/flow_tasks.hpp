#pragma once

#include <teff/flow.hpp>
#include <teff/runtime.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include "teff/apps/ways.hpp"

namespace teff::apps {

/// Steps as tasks of a flow, which several workers may share.
class flow_tasks : public way {
 public:
  flow_tasks(teff::runtime& rt, std::int64_t parts, bool shared)
      : flow_(rt), parts_(parts), shared_(shared) {}

  void run(const step& each) final {
    const cut tasks(each.count, parts_);
    for (std::int64_t i = 0; i < tasks.parts(); ++i) make(each, tasks.part(i));
  }
  void wait() final { flow_.wait(); }
  [[nodiscard]] std::int64_t made() const { return made_; }

 protected:
  [[nodiscard]] static teff::access named(const field_access& one) {
    return one.mode == access_mode::in    ? teff::in(one.bytes())
           : one.mode == access_mode::out ? teff::out(one.bytes())
                                          : teff::inout(one.bytes());
  }
  /// Makes a task that a single worker runs.
  template <class... What>
  void make_task(What&&... what) {
    flow_.task(std::forward<What>(what)...);
    ++made_;
  }

 private:
  void make(const step& each, range some) {
    each.accesses(some, accesses_);
    named_.clear();
    for (const field_access& one : accesses_) named_.push_back(named(one));
    if (!shared_ || some.size() == 1) return make_task(named_, [body = each.body, some] { body(some); });
    flow_.task_for(some.begin, some.end, named_,
                   [body = each.body](teff::range chunk) { body({chunk.first, chunk.last}); });
    ++made_;
  }

  teff::flow flow_;
  std::int64_t parts_;
  bool shared_;
  std::int64_t made_ = 0;
  access_list accesses_;
  std::vector<teff::access> named_;
};

}  // namespace teff::apps
