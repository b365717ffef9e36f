// What messages cost between two ranks of one process.
//
//   teff_messages [COUNT]     200000 messages, 20000 dependences
//
// It prints nanoseconds: a message of 8 bytes that rank 0 sends to itself, and its handler; the same to
// another rank; a message there and back; and a dependence of a chain of empty tasks that alternates between
// the ranks.
#include <teff/distributed_graph.hpp>
#include <teff/loopback.hpp>
#include <teff/message.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

namespace {

using clock_type = std::chrono::steady_clock;

template <class F>
double nanoseconds_each(int count, F&& work) {
  const auto begin = clock_type::now();
  work();
  return std::chrono::duration<double, std::nano>(clock_type::now() - begin).count() / count;
}

// The time of rank 0, for the whole of run() or wait().
void measure(teff::transport& through, int count) {
  teff::runtime rt{{.workers = 1}};
  teff::communicator comm(rt, through);
  const bool prints = comm.rank() == 0;
  std::uint64_t sum = 0;  // by one worker
  const auto small = comm.on([&](std::uint64_t value) { sum += value; });
  std::optional<teff::message<int>> back;
  back = comm.on([&](int left) {
    if (left != 0) back->send(1 - comm.rank(), left - 1);
  });
  comm.run([] {});

  for (const int to : {0, 1}) {
    const auto each = nanoseconds_each(count, [&] {
      comm.run([&] {
        if (comm.rank() != 0) return;
        for (int i = 0; i < count; ++i) small.send(to, std::uint64_t{1});
      });
    });
    if (prints)
      std::printf("%-44s %9.1f\n", to == 0 ? "8 B to itself, in a row" : "8 B to another rank, in a row",
                  each);
  }
  const int turns = count / 10;
  const auto turn = nanoseconds_each(turns, [&] {
    comm.run([&] {
      if (comm.rank() == 0) back->send(1, turns);
    });
  });
  if (prints) std::printf("%-44s %9.1f\n", "a message that answers one", turn);

  teff::distributed_graph<int> chain(comm);
  chain.rank([](int k) { return k % 2; }).indegree([](int) { return 1; }).body([&](int k) {
    if (k < turns) chain.fulfill(k + 1);
  });
  const auto dependence = nanoseconds_each(turns, [&] {
    if (comm.rank() == 0) chain.fulfill(0);
    chain.wait();
  });
  if (prints) std::printf("%-44s %9.1f\n", "a dependence between empty tasks of two ranks", dependence);
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 200'000;
  teff::loopback job(2);
  std::thread other([&] { measure(job.rank(1), count); });
  measure(job.rank(0), count);
  other.join();
}
