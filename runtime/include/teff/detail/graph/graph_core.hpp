// What a task graph does that does not depend on the type of its keys: it finds out when it has come to rest,
// tells those who wait for that, and keeps what went wrong.
#pragma once

#include <teff/detail/graph/graph_account.hpp>
#include <teff/detail/graph/recycled_memory.hpp>
#include <teff/detail/scheduler/runtime_life.hpp>
#include <teff/detail/scheduler/source.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace teff::detail {

// What `place` returns for a key that any worker may run.
inline constexpr unsigned any_worker = ~0U;

// How many keys an error names.
inline constexpr std::size_t most_names = 8;

class graph_core : public source {
 public:
  graph_core(scheduler& runtime, unsigned workers);

  // Returns when the graph has come to rest; then throws what went wrong.
  void wait();
  // Drops the tasks that don't run, waits for those that do, and says on stderr that there were some.
  void abandon_if_unfinished() noexcept;
  [[nodiscard]] scheduler& runtime() const noexcept { return runtime_; }
  [[nodiscard]] bool has_runtime() const noexcept { return life_.lasts(); }
  // `call`: what is to use the runtime, in words. Throws runtime_was_shut_down if that has been destroyed.
  void expect_runtime(const char* call) const {
    if (!has_runtime()) [[unlikely]]
      refuse_without_runtime(call);
  }
  [[nodiscard]] unsigned workers() const noexcept { return static_cast<unsigned>(accounts_.size()); }

  // For a graph that is a part of something larger, which others may bring back to work.

  // Whether nothing goes on (src/graph/rest.md).
  [[nodiscard]] bool rests() const noexcept { return at_rest(); }
  // Of a graph that rests: how many keys wait for more fulfilments; and what went wrong, if anything.
  [[nodiscard]] std::uint64_t keys_left() const noexcept;
  [[nodiscard]] std::exception_ptr failure() noexcept;
  // Who has to be told of rest is told soon.
  bool is_quiet() noexcept override { return told_of_rest_ == nullptr && at_rest(); }
  // From now on told(whom) is called again and again by workers that see that the graph rests. Set before the
  // graph is attached.
  void tell_of_rest(void (*told)(void* whom) noexcept, void* whom) noexcept;

 protected:
  [[nodiscard]] graph_account& account(unsigned worker) noexcept { return accounts_[worker]; }
  // An item that comes from outside the workers.
  void begin_outside() noexcept { begun_outside_.fetch_add(1, std::memory_order_relaxed); }

  // No body is called any more, in a child process.
  void begin_child() noexcept override { cancelled_.store(true, std::memory_order_relaxed); }

  // wait() throws the first error. From then on no body is called until wait() has thrown it.
  void fail(std::exception_ptr error) noexcept;
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }

  // Whether nothing goes on any more (src/graph/rest.md).
  [[nodiscard]] bool at_rest() const noexcept;
  // Worker `worker` has found nothing to do, so all that it took has ended. If the graph is at rest, wakes
  // those who wait for that.
  void look_for_rest(unsigned worker) noexcept;

  // The same in the middle of run(), if somebody waits. Returns whether the graph is at rest.
  [[nodiscard]] bool finds_rest(unsigned worker) noexcept;

  // Whether the runtime's workers may have other sources to look at. A hint.
  [[nodiscard]] bool is_one_of_several() const noexcept;

  // Worker `worker` is about to use its own tables. False: a waiter uses them just now, for a short time.
  [[nodiscard]] bool enter(unsigned worker) noexcept;
  void leave(unsigned worker) noexcept;

  // A key that waits, in words; and how many more there are.
  struct leftovers {
    std::size_t count = 0;
    std::vector<std::string> names;  // of some
  };
  // Forgets the keys that wait for something on worker `worker`, which does not enter() meanwhile. Adds them
  // up.
  virtual void forget_placed(unsigned worker, leftovers& all) = 0;
  // The same for those without a place; called when the graph is at rest.
  virtual void forget_unplaced(leftovers& all) = 0;
  // The key of a task of this graph that runs on the calling worker and has not ended; empty: there is none.
  [[nodiscard]] virtual std::string running_key(unsigned worker) const = 0;

 private:
  [[nodiscard]] static bool is_at_rest(const void* graph) noexcept;
  // Of a graph at rest.
  [[nodiscard]] bool nothing_left() const noexcept;
  void wait_for_rest();
  [[nodiscard]] bool help_as_guest();
  [[nodiscard]] bool comes_to_rest_soon() noexcept;
  void wait_for_rest_on(unsigned worker);
  void wait_for_rest_among_others(unsigned worker);
  void wait_for_rest_outside();
  // `call`: what would wait, in words. Throws graph_waits_for_itself.
  [[noreturn]] void refuse_to_wait_for_ever(const std::string& call) const;
  [[noreturn, gnu::cold]] static void refuse_without_runtime(const char* call);
  std::exception_ptr outcome();
  std::exception_ptr end_of_wait(std::uint64_t ticket);
  leftovers forget_all();
  std::exception_ptr take_error() noexcept;

  scheduler& runtime_;
  const runtime_life life_;
  std::vector<graph_account, recycling_allocator<graph_account>> accounts_;
  void (*told_of_rest_)(void* whom) noexcept = nullptr;
  void* whom_ = nullptr;
  std::atomic<bool> cancelled_{false};
  alignas(64) std::atomic<std::uint64_t> begun_outside_{0};
  std::atomic<unsigned> waiters_{0};
  std::mutex mutex_;  // guards what follows
  std::condition_variable rest_;
  std::vector<unsigned> waiting_workers_;
  std::exception_ptr error_;

  std::mutex ending_;  // guards what follows; held while the keys left are forgotten
  std::uint64_t next_ticket_ = 0;
  std::uint64_t waits_ = 0;  // calls in progress
  // How the graph ended when it last ended badly, and which calls of wait() had begun by then.
  std::exception_ptr outcome_;
  std::uint64_t outcome_of_those_below_ = 0;
};

}  // namespace teff::detail
