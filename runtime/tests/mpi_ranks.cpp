// A job of processes: messages, phases, failures and a task graph over MPI. Started by mpiexec; each rank
// says by its exit status whether what it saw was right. With an argument all go by MPI's messages.
#include <teff/distributed_graph.hpp>
#include <teff/message.hpp>
#include <teff/mpi.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::_Exit(1);
}

void flood(teff::communicator& comm) {
  std::atomic<long> visits{0};
  std::optional<teff::message<int, std::vector<int>>> hop;
  hop = comm.on([&](int left, const std::vector<int>& load) {
    expect(load.size() == static_cast<std::size_t>(left) * 100, "the load of a message");
    ++visits;
    if (left == 0) return;
    hop->send((comm.rank() + left) % comm.ranks(), left - 1,
              std::vector<int>(static_cast<std::size_t>(left - 1) * 100));
  });
  std::atomic<long> total{0};
  const auto report = comm.on([&](long part) { total += part; });
  for (int phase = 0; phase < 5; ++phase) {
    comm.run([&] {
      for (int i = 0; i < 300; ++i) hop->send(i % comm.ranks(), 3, std::vector<int>(300));
    });
    comm.run([&] { report.send(0, visits.exchange(0)); });
    if (comm.rank() == 0) expect(total.exchange(0) == 300L * 4 * comm.ranks(), "the number of messages");
  }
}

void large(teff::communicator& comm) {
  const std::size_t size = std::size_t{5} << 20;
  std::atomic<int> came{0};
  const auto each = comm.on([&](std::span<const double> values) {
    expect(values.size() == size && values.front() == 1.5 && values.back() == 2.5, "a large message");
    ++came;
  });
  comm.run([&] {
    std::vector<double> values(size, 0.0);
    values.front() = 1.5;
    values.back() = 2.5;
    each.send((comm.rank() + 1) % comm.ranks(), values);
  });
  expect(came == 1, "the number of large messages");
}

void failure(teff::communicator& comm) {
  const auto each = comm.on([](int) { throw std::out_of_range("as asked"); });
  const int bad = comm.ranks() - 1;
  try {
    comm.run([&] {
      if (comm.rank() == 0) each.send(bad, 1);
    });
    expect(false, "nothing was thrown");
  } catch (const std::out_of_range&) {
    expect(comm.rank() == bad, "the rank that throws the exception itself");
  } catch (const teff::rank_failed& e) {
    expect(comm.rank() != bad && e.rank == bad, "the rank that has failed");
  }
  comm.run([] {});
}

void stencil(teff::communicator& comm) {
  using key = std::array<int, 2>;
  constexpr int width = 8;
  constexpr int steps = 100;
  std::atomic<int> ran{0};
  std::atomic<int> data{0};
  teff::distributed_graph<key, std::span<const int>> g(comm);
  g.rank([&](key k) { return k[1] % comm.ranks(); })
      .indegree([](key k) { return k[0] == 0                        ? 1
                                   : k[1] == 0 || k[1] == width - 1 ? 2
                                                                    : 3; })
      .arrived([&](key k, std::span<const int> values) {
        expect(values.size() == 2 && values[1] == k[0], "the data of a key");
        ++data;
      })
      .body([&](key k) {
        ++ran;
        if (k[0] + 1 == steps) return;
        const std::array<int, 2> values{k[1], k[0] + 1};
        for (int i = std::max(0, k[1] - 1); i <= std::min(width - 1, k[1] + 1); ++i)
          g.fulfill({k[0] + 1, i}, values);
      });
  int columns = 0;
  for (int i = comm.rank(); i < width; i += comm.ranks(), ++columns)
    g.fulfill({0, i}, std::array<int, 2>{i, 0});
  g.wait();
  expect(ran == steps * columns, "the number of tasks");
}

}  // namespace

int main(int argc, char** argv) {
  const bool rings = argc == 1;
  teff::mpi job(argc, argv, {.rings = rings});
  teff::runtime rt{{.workers = 2}};
  {
    teff::communicator comm(rt, job);
    flood(comm);
    stencil(comm);
  }
  teff::communicator comm(rt, job, {.window = 4096});
  flood(comm);
  large(comm);
  failure(comm);
}
