// TEFF_WATCHDOG: the texts of a wait that takes long, of a rank or a flow.
#include <gtest/gtest.h>
#include <unistd.h>
#include <teff/attach.hpp>
#include <teff/distributed_graph.hpp>
#include <teff/distributed_replay.hpp>
#include <teff/error.hpp>
#include <teff/flow.hpp>
#include <teff/message.hpp>
#include <teff/named.hpp>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <semaphore>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "platform/watchdog.hpp"
#include "ranks.hpp"

namespace teff::test {
namespace {

// While it lives, the test can read the output to stderr.
class stderr_here {
 public:
  stderr_here() : before_(dup(STDERR_FILENO)) {
    EXPECT_EQ(pipe(ends_), 0);
    dup2(ends_[1], STDERR_FILENO);
    close(ends_[1]);
  }
  stderr_here(const stderr_here&) = delete;
  stderr_here& operator=(const stderr_here&) = delete;
  ~stderr_here() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    close(ends_[0]);
  }
  // Reads until the output has this text.
  void read_until(const std::string& wanted) {
    char byte = 0;
    while (text_.find(wanted) == std::string::npos && read(ends_[0], &byte, 1) == 1) text_ += byte;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  int before_;
  int ends_[2] = {};
  std::string text_;
};

class watchdog : public testing::Test {
 protected:
  watchdog() { setenv("TEFF_WATCHDOG", "1s", 1); }
  ~watchdog() override { unsetenv("TEFF_WATCHDOG"); }
};

// A rank's transport that opens its n-th channel only after a signal.
class late_transport final : public transport {
 public:
  late_transport(transport& real, int which, std::binary_semaphore& came)
      : real_(real), left_(which), came_(came) {}
  [[nodiscard]] int rank() const noexcept override { return real_.rank(); }
  [[nodiscard]] int ranks() const noexcept override { return real_.ranks(); }
  [[nodiscard]] std::unique_ptr<channel> open() override {
    if (--left_ == 0) came_.acquire();
    return real_.open();
  }
  [[nodiscard]] std::string awaited() const override { return "rank 1"; }

 private:
  transport& real_;
  int left_;
  std::binary_semaphore& came_;
};

// Two ranks make a communicator, and make(communicator) makes something over it. Rank 0 opens its n-th
// channel only after it has printed these words.
template <class Make>
void expect_said_of_making(const std::string& words, int which, Make make) {
  stderr_here said;
  loopback job(2);
  std::binary_semaphore seen{0};
  std::thread reader([&] {
    said.read_until(words + " (for ");
    seen.release();
  });
  on_ranks(job, 1, [&](transport& through, runtime& rt) {
    late_transport late(through, which, seen);
    communicator comm(rt, through.rank() == 0 ? late : through);
    make(comm);
  });
  reader.join();
}

// Until rank 0 has printed that, rank 1 does not begin, and the body of rank 2 does not return.
TEST_F(watchdog, says_which_rank_is_waited_for) {
  stderr_here said;
  loopback job(3);
  std::counting_semaphore<> seen{0};
  std::thread reader([&] {
    said.read_until("rank 0, epoch 1: 1 messages sent, 0 have come, 0 handled");
    said.read_until(", waits for rank 1, which has not begun");
    seen.release(2);
  });
  on_ranks(job, 2, [&](transport& through, runtime& rt) {
    communicator comm(rt, through);
    const auto message = comm.on([](int) {});
    if (comm.rank() == 1) seen.acquire();
    comm.run([&] {
      if (comm.rank() == 0) message.send(1, 7);
      if (comm.rank() == 2) seen.acquire();
    });
  });
  reader.join();
}

TEST_F(watchdog, says_which_handlers_run) {
  stderr_here said;
  loopback job(2);
  std::counting_semaphore<> seen{0};
  std::thread reader([&] {
    said.read_until("communicator 1, rank 1, epoch 1: ");
    said.read_until(" 2 handlers of message 1 (int, double) run");
    seen.release(2);
  });
  on_ranks(job, 2, [&](transport& through, runtime& rt) {
    communicator comm(rt, through);
    const auto ends = comm.on([](int) {});
    const auto stays = comm.on([&](int, double) { seen.acquire(); });
    comm.run([&] {
      if (comm.rank() != 0) return;
      ends.send(1, 1);
      stays.send(1, 2, 3.0);
      stays.send(1, 3, 3.0);
    });
  });
  reader.join();
}

TEST_F(watchdog, says_that_a_function_of_large_data_runs) {
  stderr_here said;
  loopback job(2);
  std::binary_semaphore seen{0};
  std::thread reader([&] {
    said.read_until(
        ", a handler of message 0 (large int, double) runs, a handler of large data that have moved runs");
    seen.release();
  });
  on_ranks(job, 2, [&](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::vector<double> data(100'000);
    std::binary_semaphore arrived{0};
    const auto block = comm.on_large([&](int, std::size_t) { return std::span(data); },
                                     [&](int, std::span<double>) { arrived.acquire(); });
    comm.run([&] {
      if (comm.rank() != 0) return;
      block.send(0, 7, data, [&] {
        seen.acquire();
        arrived.release();
      });
    });
  });
  reader.join();
}

// The last of several graphs has a task on rank 1. It ends only after rank 1 has printed this.
void expect_said_of_tasks(int graphs, const std::string& which, const std::string& what) {
  stderr_here said;
  loopback job(2);
  std::binary_semaphore seen{0};
  std::thread reader([&] {
    said.read_until(which);
    said.read_until(what);
    seen.release();
  });
  on_ranks(job, 1, [&](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::vector<std::unique_ptr<distributed_graph<int>>> all;
    for (int each = 0; each < graphs; ++each) all.push_back(std::make_unique<distributed_graph<int>>(comm));
    auto& last = *all.back();
    last.rank([](int) { return 1; }).indegree([](int) { return 1; }).body([&](int) { seen.acquire(); });
    if (comm.rank() == 0) last.fulfill(3);
    for (const auto& each : all) each->wait();
  });
  reader.join();
}

TEST_F(watchdog, says_which_of_several_graphs_waits) {
  expect_said_of_tasks(2, "distributed_graph 2, rank 1, epoch 1: 0 messages sent, 1 have come, 1 handled, ",
                       "tasks run (for ");
}

TEST_F(watchdog, says_whose_making_waits) {
  expect_said_of_making("communicator 1, rank 0: its making waits for rank 1", 1, [](communicator&) {});
  expect_said_of_making("communicator 2, rank 0: its making waits for rank 1", 2, [](communicator& comm) {
    const communicator second(comm.workers(), comm.network());
  });
  expect_said_of_making("distributed_graph 1, rank 0: its making waits for rank 1", 2,
                        [](communicator& comm) { const distributed_graph<int> g{comm}; });
  expect_said_of_making("distributed_replay 1, rank 0: its making waits for rank 1", 2,
                        [](communicator& comm) { const distributed_replay<int> g{comm}; });
}

// Rank 1 destroys nothing before rank 0 has printed that it waits for that.
TEST_F(watchdog, says_what_is_being_destroyed) {
  const auto expect_said = [](const std::string& name, auto make) {
    stderr_here said;
    loopback job(2);
    std::binary_semaphore seen{0};
    std::thread reader([&] {
      said.read_until(name + ", rank 0, epoch 1: ");
      said.read_until(", it is being destroyed (for ");
      seen.release();
    });
    on_ranks(job, 1, [&](transport& through, runtime& rt) {
      communicator comm(rt, through);
      const auto made = make(comm);
      if (comm.rank() == 1) seen.acquire();
    });
    reader.join();
  };
  expect_said("communicator 2", [](communicator& comm) {
    return std::make_unique<communicator>(comm.workers(), comm.network());
  });
  expect_said("distributed_graph 1",
              [](communicator& comm) { return std::make_unique<distributed_graph<int>>(comm); });
  expect_said("distributed_replay 1",
              [](communicator& comm) { return std::make_unique<distributed_replay<int>>(comm); });
}

TEST_F(watchdog, says_that_tasks_of_a_graph_run) {
  expect_said_of_tasks(1, "distributed_graph 1, rank 1, epoch 1: 0 messages sent, ", ", tasks run (for ");
}

// Rank 1 does not return from a task, and rank 0 waits for that task's output.
TEST_F(watchdog, says_which_task_of_a_replay_waits_for_which) {
  stderr_here said;
  loopback job(2);
  std::binary_semaphore seen{0};
  std::thread reader([&] {
    said.read_until(
        ", in iteration 3 task 20 (rank 0, worker 0, place 1) waits for task 11 (rank 1, worker 1, place 0) "
        "(for ");
    seen.release();
  });
  on_ranks(job, 2, [&](transport& through, runtime& rt) {
    communicator comm(rt, through);
    distributed_replay<int> g{comm};
    g.rank([](int key) { return key % 10; });
    if (comm.rank() == 0) g.add(10, 8, {}, 0);
    if (comm.rank() == 0) g.add(20, 8, {{11, 0}}, 0);
    if (comm.rank() == 1) g.add(11, 8, {}, 1);
    g.replay(5, [&](int key, const replayed_task& task) {
      if (key == 11 && task.iteration == 3) seen.acquire();
    });
  });
  reader.join();
}

std::string at(const void* object) {
  std::ostringstream text;
  text << object;
  return text.str();
}

TEST_F(watchdog, says_which_task_of_a_flow_waits_for_what_and_which_task_holds_it) {
  stderr_here said;
  held_task held;
  std::binary_semaphore is_held{0};
  long a = 0;
  int b = 0;
  const std::string first = "of 8 bytes at " + at(&a);
  const std::string second = "of 4 bytes at " + at(&b);
  std::thread reader([&] {
    said.read_until(
        "teff: flow: 2 tasks have not ended: task 'ask' (inout " + first +
        ") has run or is suspended, and a handle, an event or a future holds its end; task 'read' (in " +
        first + ", inout " + second + ") has not begun: it waits for in " + first +
        ", which task 'ask' holds by inout " + first + " (for ");
    is_held.acquire();
    held.release();
  });
  runtime rt{{.workers = 2}};
  flow f{rt};
  f.task(out(a), named<"ask">([&] {
           held = hold_end();
           is_held.release();
         }));
  f.task(in(a), out(b), named<"read">([&] { b = 1; }));
  f.wait();
  EXPECT_EQ(b, 1);
  reader.join();
}

// The destructor drops them. Until then it waits for the task that has begun.
TEST_F(watchdog, says_which_task_keeps_inner_tasks_and_commutative_ones_of_a_flow_from_beginning) {
  stderr_here said;
  std::binary_semaphore seen{0};
  std::binary_semaphore begun{0};
  long a = 0;
  const std::string memory = "of 8 bytes at " + at(&a);
  const std::string holder = ", which task 'first' holds by commutative " + memory;
  std::thread reader([&] {
    said.read_until("task 'first' (commutative " + memory + ") runs on worker ");
    said.read_until("task 'second' (commutative " + memory + ") has not begun: it waits for commutative " +
                    memory + holder);
    said.read_until("task 'outer' (weak inout " + memory + ") has run, and a part of it has not ended: ");
    said.read_until("task 'inner' (in " + memory + ") has not begun: it waits for in " + memory + holder);
    seen.release();
  });
  runtime rt{{.workers = 2}};
  {
    flow f{rt};
    f.task(commutative(a), named<"first">([&] {
             begun.release();
             seen.acquire();
           }));
    begun.acquire();
    f.task(commutative(a), named<"second">([&] { ++a; }));
    f.task(weak(inout(a)), named<"outer">([&] {
             f.task(in(a), named<"inner">([] {}));
             begun.release();
           }));
    begun.acquire();
  }
  reader.join();
}

TEST_F(watchdog, speaks_without_the_variable_where_nothing_runs) {
  unsetenv("TEFF_WATCHDOG");
  stderr_here said;
  const detail::watchdog silent([] { return "nobody asked"; });
  const detail::watchdog speaks([] { return "its making waits"; }, std::chrono::seconds{1});
  said.read_until("teff: its making waits (for 2 s)\n");
  EXPECT_EQ(said.text().find("nobody asked"), std::string::npos);
}

TEST_F(watchdog, wants_whole_seconds) {
  setenv("TEFF_WATCHDOG", "soon", 1);
  loopback job(1);
  on_ranks(job, 1, [](transport& through, runtime& rt) {
    try {
      const communicator comm(rt, through);
      FAIL();
    } catch (const invalid_option& wrong) {
      EXPECT_STREQ(wrong.what(), "TEFF_WATCHDOG=soon: whole seconds are expected, as 30; 0 turns it off");
    }
  });
}

}  // namespace
}  // namespace teff::test
