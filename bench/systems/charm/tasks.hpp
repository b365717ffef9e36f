// Tasks as chares that are created, one each. The seed balancer sends half of them to other workers. A chare
// sends its result to its creator in a message. The newest goes first: by default the oldest does, which
// would search a tree breadth first. Null tasks send no answer: quiescence detection finds that all have run.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>

#include "runtime.hpp"
#include "teff/spawn/spawn_patterns.hpp"

PUPbytes(teff::spawn::node);
PUPbytes(teff::spawn::tree_counts);

#include "tasks.decl.h"

namespace {

/// Runs in the threaded method that spawns the first task and waits for it.
std::function<void()> body;

/// Has the newest message go first.
struct newest_first : CkEntryOptions {
  newest_first() { setQueueing(CK_QUEUEING_LIFO); }
};

/// Creates a chare, on any worker.
template <class Proxy, class... Arguments>
void create(Arguments... arguments) {
  static const newest_first options;
  Proxy::ckNew(arguments..., CK_PE_ANY, &options);
}

/// Sends a result to the chare that asked for it, or to the thread that waits for the first chare.
template <class Proxy, class Result>
void answer(std::variant<CkFuture, Proxy>& asked, const Result& result) {
  if (auto* chare = std::get_if<Proxy>(&asked)) {
    chare->add(result);
  } else {
    ck::future<Result>(std::get<CkFuture>(asked)).set(result);
  }
}

/// Creates the first chare of a pattern, and waits for its answer.
template <class Proxy, class Result, class... Arguments>
Result answer_of(Arguments... arguments) {
  ck::future<Result> found;
  create<Proxy>(arguments..., found.handle());
  const Result result = found.get();
  found.release();
  return result;
}

}  // namespace

class body_chare : public CBase_body_chare {
 public:
  body_chare() { thisProxy.go(); }
  void go() {
    body();
    delete this;
    CkExit();
  }
};

class null_chare : public CBase_null_chare {
 public:
  explicit null_chare(std::int64_t i) {
    teff::spawn::null_task(i);
    delete this;
  }
};

class halving_chare : public CBase_halving_chare {
 public:
  halving_chare(std::int64_t first, std::int64_t end) {
    while (end - first > 1) {
      const std::int64_t middle = first + (end - first) / 2;
      create<CProxy_halving_chare>(middle, end);
      end = middle;
    }
    teff::spawn::null_task(first);
    delete this;
  }
};

class fibonacci_chare : public CBase_fibonacci_chare {
 public:
  using asker = std::variant<CkFuture, CProxy_fibonacci_chare>;

  fibonacci_chare(int n, bool both, CkFuture asked) : asked_(asked) { run(n, both); }
  fibonacci_chare(int n, bool both, CProxy_fibonacci_chare asked) : asked_(asked) { run(n, both); }

  void add(std::int64_t part) {
    sum_ += part;
    if (--missing_ == 0) end();
  }

 private:
  /// The second call is a chare, too, or the next turn.
  void run(int n, bool both) {
    for (; n >= 2; n -= 2) {
      create<CProxy_fibonacci_chare>(n - 1, both, thisProxy);
      ++missing_;
      if (!both) continue;
      create<CProxy_fibonacci_chare>(n - 2, both, thisProxy);
      ++missing_;
      return;
    }
    sum_ = n;
    if (missing_ == 0) end();
  }
  void end() {
    answer(asked_, sum_);
    delete this;
  }

  asker asked_;
  std::int64_t sum_ = 0;
  int missing_ = 0;
};

class search_chare : public CBase_search_chare {
 public:
  using asker = std::variant<CkFuture, CProxy_search_chare>;

  /// The tree that is searched now.
  static inline const teff::spawn::tree* searched = nullptr;

  search_chare(const teff::spawn::node& from, CkFuture asked) : asked_(asked) { run(from); }
  search_chare(const teff::spawn::node& from, CProxy_search_chare asked) : asked_(asked) { run(from); }

  void add(const teff::spawn::tree_counts& part) {
    seen_ += part;
    if (--missing_ == 0) end();
  }

 private:
  void run(const teff::spawn::node& from) {
    missing_ = searched->children(from);
    seen_ = {1, missing_ == 0 ? 1 : 0, from.depth};
    for (std::int32_t i = 0; i < missing_; ++i)
      create<CProxy_search_chare>(teff::spawn::tree::child(from, i), thisProxy);
    if (missing_ == 0) end();
  }
  void end() {
    answer(asked_, seen_);
    delete this;
  }

  asker asked_;
  teff::spawn::tree_counts seen_;
  std::int32_t missing_ = 0;
};

namespace {

class task_system {
 public:
  explicit task_system(int workers) : runtime_(workers) {}

  [[nodiscard]] static teff::bench::identity describe() { return runtime::describe("chares"); }

  template <class Body>
  void run(Body given) {
    body = given;
    CProxy_body_chare::ckNew(0);
    runtime_.run();
  }

  static void serial_spawn(std::int64_t tasks) {
    for (std::int64_t i = 0; i < tasks; ++i) create<CProxy_null_chare>(i);
    CkWaitQD();
  }
  static void parallel_spawn(std::int64_t tasks) {
    create<CProxy_halving_chare>(std::int64_t{0}, tasks);
    CkWaitQD();
  }
  static std::int64_t fibonacci_both(std::int32_t n) {
    return answer_of<CProxy_fibonacci_chare, std::int64_t>(n, true);
  }
  static std::int64_t fibonacci_one(std::int32_t n) {
    return answer_of<CProxy_fibonacci_chare, std::int64_t>(n, false);
  }
  static teff::spawn::tree_counts search_tree(const teff::spawn::tree& of, const teff::spawn::node& from) {
    search_chare::searched = &of;
    return answer_of<CProxy_search_chare, teff::spawn::tree_counts>(from);
  }

 private:
  runtime runtime_;
};

}  // namespace

#include "tasks.def.h"
