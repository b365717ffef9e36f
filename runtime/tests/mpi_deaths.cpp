// A job of processes of which the last is killed while the others wait for it. Started by mpiexec, which is
// told to go on without it: that they end at all is what the test looks at, and that they name who has died.
#include <teff/message.hpp>
#include <teff/mpi.hpp>

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>

namespace {

enum class state { asleep, busy, sending };

// Asleep: all wait in run(), and nothing comes. Busy: their workers send without end, to the dead one, too.
// Or they run a task that never ends.
void wait_for_a_dead_rank(teff::communicator& comm, state how) {
  const int last = comm.ranks() - 1;
  std::atomic<int> came{0};
  const auto each = comm.on([&](int) { ++came; });
  const auto die = comm.on([&] {
    std::fprintf(stderr, "rank %d (process %d) dies\n", comm.rank(), static_cast<int>(getpid()));
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

}  // namespace

int main(int argc, char** argv) {
  teff::mpi job(argc, argv);
  teff::runtime rt{{.workers = 2}};
  teff::communicator comm(rt, job);
  const std::string how = argc > 1 ? argv[1] : "asleep";
  wait_for_a_dead_rank(comm, how == "busy" ? state::busy : how == "sending" ? state::sending : state::asleep);
}
