// A job of processes that writes a trace. The first argument says how its ranks communicate: by `messages` of
// a communicator, or by `tasks` that use MPI. With a folder and a number of ranks as further arguments, it
// checks the trace in that folder.
#include <teff/distributed_graph.hpp>
#include <teff/flow.hpp>
#include <teff/message.hpp>
#include <teff/mpi.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "rank_traces.hpp"

namespace {

constexpr int rounds = 200;
constexpr int task_rounds = 10;

// Runs a rank of the job. The last rank throws in one run(), in which no rank sends messages.
int run(teff::mpi& job) {
  teff::runtime rt{{.workers = 2}};
  teff::communicator comm(rt, job);
  std::atomic<int> came{0};
  const auto each = comm.on([&](int) { ++came; });
  comm.run([&] {
    for (int i = 0; i < rounds; ++i) {
      for (int to = 0; to < comm.ranks(); ++to) each.send(to, i);
    }
  });
  try {
    comm.run([&] {
      if (comm.rank() == comm.ranks() - 1) throw std::out_of_range("as asked");
    });
    return EXIT_FAILURE;
  } catch (const std::exception&) {
  }
  teff::distributed_graph<int> graph(comm);
  graph.rank([&](int key) { return key % comm.ranks(); }).indegree([](int) { return 1; }).body([&](int key) {
    if (key < rounds) graph.fulfill(key + 1);
  });
  if (comm.rank() == 0) graph.fulfill(0);
  graph.wait();
  return came == rounds * comm.ranks() ? EXIT_SUCCESS : EXIT_FAILURE;
}

// The same without a communicator.
int run_tasks(teff::mpi& job) {
  teff::runtime rt{{.workers = 2}};
  teff::flow f{rt};
  int mine = job.rank();
  int came = -1;
  int sum = 0;
  for (int i = 0; i < task_rounds; ++i) {
    f.task(teff::inout(mine), [&] { teff::mpi::isend(mine, (job.rank() + 1) % job.ranks()); });
    f.task(teff::out(came), [&] { teff::mpi::irecv(came, (job.rank() + job.ranks() - 1) % job.ranks()); });
    f.task(teff::in(came), teff::out(sum), [&] { sum = came; });
    f.task(teff::inout(sum), [&] { teff::mpi::iallreduce(sum); });
  }
  f.wait();
  return sum == job.ranks() * (job.ranks() - 1) / 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int look_at(const char* folder, int ranks, bool of_tasks) {
  namespace fs = std::filesystem;
  if (std::distance(fs::directory_iterator(folder), fs::directory_iterator()) != 1) {
    std::fprintf(stderr, "there is not one file in %s\n", folder);
    return EXIT_FAILURE;
  }
  const teff::test::rank_trace all(
      nlohmann::json::parse(std::ifstream(fs::directory_iterator(folder)->path())), ranks);
  std::fprintf(stderr, "%zu messages, %zu of them from rank to rank; %zu requests\n%s", all.messages(),
               all.messages_between_ranks(), all.requests(), all.faults().c_str());
  const int messages = of_tasks ? 0 : rounds * (ranks * ranks + 1);
  const int requests = of_tasks ? 3 * task_rounds * ranks : 0;
  const bool right = all.messages() == static_cast<std::size_t>(messages) &&
                     all.requests() == static_cast<std::size_t>(requests);
  return all.faults().empty() && right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  const bool of_tasks = std::string(argv[1]) == "tasks";
  if (argc == 4) return look_at(argv[2], std::atoi(argv[3]), of_tasks);
  teff::mpi job(argc, argv);
  return of_tasks ? run_tasks(job) : run(job);
}
