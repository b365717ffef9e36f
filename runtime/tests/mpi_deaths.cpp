// A job of processes, of which the last one is killed while the others wait for it. Or its host is cut off
// from the others (hosts.sh), or it is stopped for a while. The job is started by mpiexec, which is told to
// go on without a dead rank. The test checks that the other processes end, and that they name the dead one.
#include <teff/distributed_replay.hpp>
#include <teff/message.hpp>
#include <teff/mpi.hpp>

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <semaphore>
#include <string>

namespace {

enum class state { asleep, busy, sending, cut_off, stopped };

// Stops this process for longer than a host may be silent. Another process ends the stop.
void stop_for_a_while() {
  const pid_t stopped = getpid();
  if (fork() == 0) {
    sleep(6);
    kill(stopped, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
}

// Asleep: all ranks wait in run(), and no message comes. Busy: they run a task that never ends. Sending: they
// send without end, to the dead rank, too.
void wait_for_a_dead_rank(teff::communicator& comm, state how) {
  const int last = comm.ranks() - 1;
  std::atomic<int> came{0};
  std::binary_semaphore asleep{0};
  const auto each = comm.on([&](int) { ++came; });
  const auto die = comm.on([&] {
    std::fprintf(stderr, "rank %d (process %d) dies\n", comm.rank(), static_cast<int>(getpid()));
    if (how == state::stopped) return stop_for_a_while();
    if (how == state::cut_off && std::system("ip link set teff0 down") == 0) return asleep.acquire();
    kill(getpid(), SIGKILL);
  });
  comm.run([&] {
    if (comm.rank() == last) return;
    if (comm.rank() == 0) die.send(last);
    std::atomic<bool> never{false};
    while (how == state::busy && !never.load()) {
    }
    while (how == state::sending) each.send(last, 1);
  });
  std::fprintf(stderr, "rank %d: run() has returned\n", comm.rank());
}

// The last rank dies in a replay, in which the other ranks wait for it.
void replay_with_a_dead_rank(teff::communicator& comm) {
  teff::distributed_replay<int> g(comm);
  g.rank([](int rank) { return rank; });
  g.add(comm.rank(), 8, {{comm.ranks() - 1, 1}});
  g.replay(1000, [&](int rank, const teff::replayed_task& task) {
    if (rank == comm.ranks() - 1 && task.iteration == 500) kill(getpid(), SIGKILL);
  });
  std::fprintf(stderr, "rank %d: replay() has returned\n", comm.rank());
}

}  // namespace

int main(int argc, char** argv) {
  teff::mpi job(argc, argv);
  teff::runtime rt{{.workers = 2}};
  teff::communicator comm(rt, job);
  const std::map<std::string, state> states{{"asleep", state::asleep},
                                            {"busy", state::busy},
                                            {"sending", state::sending},
                                            {"cut_off", state::cut_off},
                                            {"stopped", state::stopped}};
  const std::string how = argc > 1 ? argv[1] : "asleep";
  if (how == "replaying") {
    replay_with_a_dead_rank(comm);
  } else {
    wait_for_a_dead_rank(comm, states.at(how));
  }
}
