// Which hardware threads this process may use, and which of them workers take.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace teff::detail {

class topology {
 public:
  // Reads the machine (hwloc) and the affinity mask of the process's main thread: the calling one may be a
  // worker, bound to a single core, or have inherited its mask from one. Throws std::system_error if hwloc
  // fails.
  topology();
  ~topology();
  topology(const topology&) = delete;
  topology& operator=(const topology&) = delete;

  // Usable cores: those with at least one hardware thread in the mask, at most as many as the cgroup's CPU
  // quota lets run at a time.
  [[nodiscard]] unsigned usable_cores() const noexcept;

  // Usable hardware threads (operating-system indices): the first of every core, then the second, and so on.
  [[nodiscard]] const std::vector<unsigned>& processors() const noexcept { return processors_; }

  // How far apart two hardware threads are: the depth of their nearest common cache or package, negated, so
  // that nearer is less.
  [[nodiscard]] int distance(unsigned a, unsigned b) const noexcept;

  // Binds the calling thread to one hardware thread. What the system refuses is left unbound.
  void bind_this_thread(unsigned processor) const noexcept;
  // The calling thread, if its mask allows it, goes on on this hardware thread, and is bound to it no more
  // than before: the system may move it on.
  void move_this_thread(unsigned processor) const noexcept;
  // Lets the calling thread run on any processor that this process may use, whatever mask it has.
  void free_this_thread() const noexcept;

 private:
  struct tree;
  static void bind_this_thread_to(std::span<const unsigned> processors) noexcept;

  std::unique_ptr<tree> tree_;
  std::vector<unsigned> processors_;
  unsigned cores_ = 1;
};

// The processors that the workers of one runtime are bound to, as long as it lives.
class processor_claim {
 public:
  // The `count` of `order` that the fewest workers of this process are bound to, in that order where they are
  // equal. `order` has at least `count`.
  processor_claim(const std::vector<unsigned>& order, std::size_t count);
  ~processor_claim();
  processor_claim(const processor_claim&) = delete;
  processor_claim& operator=(const processor_claim&) = delete;

  [[nodiscard]] unsigned operator[](std::size_t worker) const noexcept { return processors_[worker]; }

 private:
  std::vector<unsigned> processors_;
};

}  // namespace teff::detail
