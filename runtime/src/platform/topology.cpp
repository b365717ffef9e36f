#include "platform/topology.hpp"

#include "platform/cpu_quota.hpp"
#include "platform/process_wide.hpp"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

namespace teff::detail {

namespace {

// How many workers of this process keep to each processor.
struct bound_workers {
  std::vector<unsigned> on;
  void begin_child() noexcept { on.clear(); }
};

// hwloc locks a mutex while it makes or destroys a topology. A child of fork() would find the mutex held by a
// thread of the parent. So fork() waits until no thread makes or destroys one.
struct hwloc_call {};
using hwloc_lock = process_wide<hwloc_call>;

// The usable hardware threads of every core, in the machine's order. Throws std::system_error.
template <class MayUse>
std::vector<std::vector<unsigned>> read_cores(MayUse may_use) {
  const auto refuse = [] { throw std::system_error(errno, std::generic_category(), "hwloc"); };
  hwloc_topology_t machine{};
  if (hwloc_topology_init(&machine) != 0) refuse();
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> owned(machine,
                                                                                 &hwloc_topology_destroy);
  if (hwloc_topology_load(machine) != 0) refuse();
  std::vector<std::vector<unsigned>> cores;
  const int count = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_CORE);
  for (int i = 0; i < count; ++i) {
    const auto core = hwloc_get_obj_by_type(machine, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
    std::vector<unsigned> threads;
    for (int p = hwloc_bitmap_first(core->cpuset); p >= 0; p = hwloc_bitmap_next(core->cpuset, p)) {
      if (may_use(static_cast<unsigned>(p))) threads.push_back(static_cast<unsigned>(p));
    }
    if (!threads.empty()) cores.push_back(std::move(threads));
  }
  return cores;
}

}  // namespace

processor_claim::processor_claim(const std::vector<unsigned>& order, std::size_t count) {
  process_wide<bound_workers>::with([&](bound_workers& workers) {
    for (const unsigned processor : order)
      workers.on.resize(std::max(workers.on.size(), std::size_t{processor} + 1));
    std::multimap<unsigned, unsigned> by_workers;  // of equal ones in their order
    for (const unsigned processor : order) by_workers.emplace(workers.on[processor], processor);
    for (const auto& [_, processor] : by_workers) {
      if (processors_.size() < count) processors_.push_back(processor);
    }
    for (const unsigned processor : processors_) ++workers.on[processor];
  });
}

processor_claim::~processor_claim() {
  process_wide<bound_workers>::with([this](bound_workers& workers) {
    for (const unsigned processor : processors_) --workers.on[processor];
  });
}

topology::topology() {
  // Where the system does not say, all of them.
  if (::sched_getaffinity(::getpid(), sizeof mask_, mask_.data()) < 0)
    std::memset(mask_.data(), 0xff, sizeof mask_);
  const auto may_use = [this](unsigned processor) {
    return CPU_ISSET_S(processor, sizeof mask_, mask_.data()) != 0;
  };
  auto cores = hwloc_lock::with([&](auto&) { return read_cores(may_use); });
  if (cores.empty()) {  // a machine that shows no cores
    for (unsigned p = 0; p < 8 * sizeof mask_; ++p) {
      if (may_use(p)) cores.push_back({p});
    }
  }

  std::size_t widest = 0;
  for (const auto& core : cores) widest = std::max(widest, core.size());
  for (std::size_t i = 0; i < widest; ++i) {
    for (const auto& core : cores) {
      if (i < core.size()) processors_.push_back(core[i]);
    }
  }
  cores_ = std::max(1U, static_cast<unsigned>(cores.size()));
  if (const auto quota = cpu_quota(); quota > 0) {
    cores_ = std::clamp(static_cast<unsigned>(std::ceil(quota)), 1U, cores_);
  }
}

// Not by hwloc: its mask lacks processors that it does not show, and the thread would keep the narrower one.
void topology::move_thread(pid_t thread, unsigned processor) noexcept {
  processor_set mask{};
  if (::sched_getaffinity(thread, sizeof mask, mask.data()) < 0 ||
      !CPU_ISSET_S(processor, sizeof mask, mask.data()))
    return;
  processor_set alone{};
  CPU_SET_S(processor, sizeof alone, alone.data());
  ::sched_setaffinity(thread, sizeof alone, alone.data());
  ::sched_setaffinity(thread, sizeof mask, mask.data());
}

}  // namespace teff::detail
