// A job of processes that writes a trace. With a folder and a number of ranks as arguments, it checks the
// trace in that folder.
#include <teff/distributed_graph.hpp>
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

int look_at(const char* folder, int ranks) {
  namespace fs = std::filesystem;
  if (std::distance(fs::directory_iterator(folder), fs::directory_iterator()) != 1) {
    std::fprintf(stderr, "there is not one file in %s\n", folder);
    return EXIT_FAILURE;
  }
  const teff::test::rank_trace all(
      nlohmann::json::parse(std::ifstream(fs::directory_iterator(folder)->path())), ranks);
  std::fprintf(stderr, "%zu messages, %zu of them from rank to rank\n%s", all.messages(),
               all.messages_between_ranks(), all.faults().c_str());
  const auto expected = static_cast<std::size_t>(rounds) * static_cast<std::size_t>(ranks * ranks + 1);
  return all.faults().empty() && all.messages() == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) return look_at(argv[1], std::atoi(argv[2]));
  teff::mpi job(argc, argv);
  return run(job);
}
