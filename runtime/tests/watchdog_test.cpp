// TEFF_WATCHDOG: what a rank says when an epoch takes long.
#include <gtest/gtest.h>
#include <unistd.h>
#include <teff/distributed_graph.hpp>
#include <teff/distributed_replay.hpp>
#include <teff/error.hpp>
#include <teff/message.hpp>

#include <cstdlib>
#include <semaphore>
#include <string>
#include <thread>

#include "ranks.hpp"

namespace teff::test {
namespace {

// What is written to stderr can be read while it lives.
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
  // Reads until this has been written.
  void read_until(const std::string& wanted) {
    char byte = 0;
    while (text_.find(wanted) == std::string::npos && read(ends_[0], &byte, 1) == 1) text_ += byte;
  }

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

// Until rank 0 has said so, rank 1 does not begin, and the body of rank 2 does not return.
TEST_F(watchdog, says_which_rank_is_waited_for) {
  stderr_here said;
  loopback job(3);
  std::counting_semaphore<> seen{0};
  std::thread reader([&] {
    said.read_until(
        "rank 0, epoch 1: 1 messages sent, 0 have come, 0 handled, waits for rank 1, which has not begun");
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

TEST_F(watchdog, says_that_tasks_of_a_graph_run) {
  stderr_here said;
  loopback job(2);
  std::binary_semaphore seen{0};
  std::thread reader([&] {
    said.read_until("distributed_graph, rank 1, epoch 1: 0 messages sent, ");
    said.read_until(", tasks run (for ");
    seen.release();
  });
  on_ranks(job, 1, [&](transport& through, runtime& rt) {
    communicator comm(rt, through);
    distributed_graph<int> g{comm};
    g.rank([](int) { return 1; }).indegree([](int) { return 1; }).body([&](int) { seen.acquire(); });
    if (comm.rank() == 0) g.fulfill(3);
    g.wait();
  });
  reader.join();
}

// Rank 1 does not return from its task, for whose output rank 0 waits.
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
    if (comm.rank() == 0) g.add(10, 8, {});
    if (comm.rank() == 0) g.add(20, 8, {{11, 0}});
    if (comm.rank() == 1) g.add(11, 8, {}, 1);
    g.replay(5, [&](int key, const replayed_task& task) {
      if (key == 11 && task.iteration == 3) seen.acquire();
    });
  });
  reader.join();
}

TEST_F(watchdog, wants_whole_seconds) {
  setenv("TEFF_WATCHDOG", "soon", 1);
  loopback job(1);
  on_ranks(job, 1, [](transport& through, runtime& rt) {
    communicator comm(rt, through);
    EXPECT_THROW(comm.run([] {}), invalid_option);
  });
}

}  // namespace
}  // namespace teff::test
