// The lists of continuations and requests on their interleavings. No continuation is lost or called twice. No
// request stays in the queue while the only worker sleeps.
#include <gtest/gtest.h>
#include <teff/detail/future/continuations.hpp>

#include "interleavings.hpp"
#include "scheduler/idle_gate.hpp"
#include "scheduler/lending.hpp"

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace teff::test {
namespace {

using checked::checker;

template <class World>
checker::outcome check(int preemptions, const std::vector<std::function<void(World&)>>& threads) {
  return checked::check_threads<World>([] { return std::make_shared<World>(); }, threads,
                                       [](World& w) { w.look(); }, preemptions);
}

// ---- Continuations ----

struct an_outcome {
  struct reader : detail::continuation {
    reader()
        : continuation{[](continuation& this_one) noexcept {
            auto& me = static_cast<reader&>(this_one);
            me.read();
          }} {}
    void read() {
      if (value.read() != 7) checker::fail("read before it was there");
      ++reads;
    }
    checked::plain value;  // one each: the checker takes two reads that are not ordered for a race
    int reads = 0;
  };

  void bring() {
    for (auto& each : readers) each.value.write(7);
    stack.end();
  }
  void follow(std::size_t i) {
    if (!stack.add(readers[i])) readers[i].read();
  }
  void look() {
    for (const auto& each : readers) {
      if (each.reads != 1) checker::fail("a continuation was not called once");
    }
  }

  detail::continuation_stack<checked::atomic> stack;
  std::array<reader, 2> readers;
};

TEST(request_model, each_continuation_is_called_once_and_sees_the_value) {
  expect_no_fault(check<an_outcome>(4, {[](an_outcome& o) { o.bring(); }, [](an_outcome& o) { o.follow(0); },
                                        [](an_outcome& o) { o.follow(1); }}));
}

// ---- Lending ----

// One worker, which sleeps; the thread that lends runs the spare thread's turn itself.
struct a_queue {
  explicit a_queue(unsigned workers = 1) : gate(workers), lent(workers) {}
  void lend() {
    if (queued.load() == 0 || !lent.try_begin_run()) return;
    lent.run_all([this] { return take(); }, [this] { return queued.load() == 0; });
  }
  bool take() {
    int there = queued.load();
    while (there > 0) {
      if (queued.compare_exchange_strong(there, there - 1)) return true;
    }
    return false;
  }
  void submit() {
    queued.fetch_add(1);
    if (gate.anybody_is_limited()) lend();
  }
  void prepare_sleep(unsigned me) {
    gate.start_search();
    static_cast<void>(gate.prepare_sleep(me, detail::wake_for::sources));
  }
  void sleep(bool looks = true) {
    prepare_sleep(0);
    if (looks) lend();
  }
  void look() {
    if (queued.load() != 0) checker::fail("a request was left");
  }

  detail::idle_gate<checked::futex> gate;
  detail::lending<checked::atomic> lent;
  checked::atomic<int> queued{0};
};

TEST(request_model, no_request_is_left_beside_a_worker_that_sleeps) {
  expect_no_fault(check<a_queue>(
      4, {[](a_queue& q) { q.sleep(); }, [](a_queue& q) { q.submit(); }, [](a_queue& q) { q.submit(); }}));
}

TEST(request_model, a_thread_that_blocks_has_another_run_what_comes) {
  const auto blocks = [](a_queue& q) {
    q.sleep();
    q.lent.resume_run();  // as if it had run requests all the time
    q.lent.end_run();
    q.lend();
  };
  expect_no_fault(
      check<a_queue>(4, {blocks, [](a_queue& q) { q.submit(); }, [](a_queue& q) { q.submit(); }}));
}

// Two workers, which go to sleep within activities; a call is lent where both sleep.
struct a_call : a_queue {
  void lend() {
    if (gate.everybody_is_limited() && queued.load() != 0 && lent.try_begin_run())
      lent.run_all([this] { return take(); }, [this] { return queued.load() == 0; });
  }
  void submit() {
    queued.fetch_add(1);
    lend();
  }
  void sleep(unsigned me, bool looks = true) {
    prepare_sleep(me);
    if (looks) lend();
  }
  a_call() : a_queue{2} {}
};

TEST(request_model, no_call_is_left_beside_workers_that_all_sleep) {
  for (const bool looks : {true, false}) {
    const auto found =
        check<a_call>(4, {[=](a_call& c) { c.sleep(0, looks); }, [=](a_call& c) { c.sleep(1, looks); },
                          [](a_call& c) { c.submit(); }});
    if (looks) {
      expect_no_fault(found);
    } else {
      EXPECT_NE(found.fault, "");
    }
  }
}

TEST(request_model, finds_a_worker_that_does_not_look_before_it_sleeps) {
  EXPECT_NE(check<a_queue>(4, {[](a_queue& q) { q.sleep(false); }, [](a_queue& q) { q.submit(); }}).fault,
            "");
}

}  // namespace
}  // namespace teff::test
